"""What all games compiled to kernels share: spaces, the course of a reset, and bound kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Self

import gymnasium
import numpy as np

from collab_overcooked._bound import bind, bind_all
from collab_overcooked.core.config import Config
from collab_overcooked.core.schema import Form, check_same
from collab_overcooked.envs.api import ActionError, BoundBatch, FullGame, rows
from collab_overcooked.envs.seen import SeatView
from collab_overcooked.errors import looks_like, near_matches, shown
from collab_overcooked.render.model import Sheet

KernelCall = tuple[Any, tuple[Any, ...]]  # a kernel, and what it is called with


class CompiledGame(FullGame):
    """A game that is stepped by kernels over read-only tables.

    It is frozen, so copies are the game itself and pickles are frozen again.

    Attributes:
        config_class: Its options.
        compiled: Has ``tables``, the NamedTuple of read-only arrays for which kernels are compiled.
        global_state: Names of the state's arrays that are the global state.
        seat_view: Class of what a seat may know.
        hidden_keys: Keys of a scene that no seat may know: chance, and whatever goes on in the heads of others.
        step_kernels: Called with tables, state, actions and out, in their order; they advance a batch by one timestep.
        observe_kernels: Called with tables, state and out; they write observations and masks where ``out.fresh``.
        texts: Texts of all actions by id, where they are the same for all seats at all times.
    """

    config_class: type[Config]
    compiled: Any
    global_state: tuple[str, ...]
    hidden_keys: tuple[str, ...] = ("chance",)
    seat_view: type[SeatView] = SeatView
    step_kernels: tuple[Any, ...]
    observe_kernels: tuple[Any, ...]
    texts: tuple[str, ...]

    def __setstate__(self, values: dict[str, Any]) -> None:
        """Freeze the tables again after unpickling, which forgets it."""
        self.__dict__.update(values)
        for array in self.compiled.tables:
            array.setflags(write=False)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the game itself: nothing in it changes."""
        return self

    def _set_spaces(self, observations: gymnasium.spaces.Box[Any]) -> None:
        """Freeze the tables and set all spaces, once the game has its tables and ``n_actions``."""
        self.__setstate__({})
        self.single_observation_space = observations
        self.single_action_space = gymnasium.spaces.Discrete(self.n_actions)
        state, _ = self.alloc(1)
        bounds = np.iinfo(np.int32)
        self.state_space = gymnasium.spaces.Box(bounds.min, bounds.max, self.state_vector(state, 0).shape, np.int32)

    # ---------------------------------------------------------------------------------------- what a game defines

    def step_calls(self, state: Any, actions: np.ndarray, out: Any) -> tuple[KernelCall, ...]:
        """Return the kernel calls that advance a batch by one timestep, in their order."""
        return tuple((kernel, (self.compiled.tables, state, actions, out)) for kernel in self.step_kernels)

    def observe_calls(self, state: Any, out: Any) -> tuple[KernelCall, ...]:
        """Return the kernel calls that write observations and masks where ``out.fresh`` says so."""
        return tuple((kernel, (self.compiled.tables, state, out)) for kernel in self.observe_kernels)

    def reset_forms(self) -> dict[str, Form]:
        """Return the form of each option of ``reset``; ``state`` has that of a scene, with every key of ``scene``."""
        raise NotImplementedError

    def _start(self, state: Any, out: Any, which: np.ndarray, options: Mapping[str, Any], limit: int) -> None:
        """Start episodes by all options, of their forms, but the scene; a limit of 0 is the game's own."""
        raise NotImplementedError

    def _encode(self, state: Any, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        """Write a scene of its form into environment ``i``; keys left out keep what is there.

        Returns:
            Whether the episode is terminated or truncated already, so that nothing can be played on.

        Raises:
            ValueError: For a scene that cannot be written.
        """
        raise NotImplementedError

    def _check_scene(self, scene: dict[str, Any]) -> None:
        """Refuse a whole scene, as ``scene`` returns it, that no play can lead to.

        Raises:
            ValueError: Naming the key, its value and what is allowed beside the other keys.
        """
        raise NotImplementedError

    def seat_scene(self, scene: dict[str, Any], seat: int) -> dict[str, Any]:
        """Return a scene without what a seat may not know."""
        return {key: value for key, value in scene.items() if key not in self.hidden_keys}

    def sheet(self, scene: dict[str, Any], seat: int | None = None) -> Sheet:
        """Return the picture of a scene; with a seat, the scene has been left what that seat may know."""
        raise NotImplementedError

    @property
    def display_names(self) -> tuple[str, ...]:
        """Names of the seats in texts."""
        return tuple(f"agent_{seat}" for seat in range(self.n_agents))

    def action_texts(self, state: Any = None, i: int = 0, seat: int = 0) -> list[str]:
        """Return the text of every action of a seat, by id."""
        return list(self.texts)

    def parse(self, text: str, state: Any = None, i: int = 0, seat: int = 0) -> int:
        """Return the id of an action's text, in whatever case.

        Raises:
            ActionError: With near matches.
        """
        texts, wanted = self.action_texts(state, i, seat), text.strip().lower()
        if wanted not in texts:
            raise ActionError("F_NO_ACTION", near_matches("action", text, texts))
        return texts.index(wanted)

    def parse_plan(self, plan: str, seat: int = 0) -> tuple[list[str], list[str]]:
        """Return the actions of a plan, one a line or between semicolons; nobody asks teammates for actions here."""
        return [part.strip() for line in plan.splitlines() for part in line.split(";") if part.strip()], []

    # ---------------------------------------------------------------------------------------- what it gets

    def bind(self, state: Any, actions: np.ndarray, out: Any) -> BoundBatch:
        """Return ``step`` and ``reset`` with the arrays of a batch bound to the kernels, so that calls are cheap.

        What is returned can be neither copied nor pickled, and the arrays must not be replaced. A subclass that
        changes what stepping or resetting does is taken at its word.
        """
        own = type(self)
        if own.step is not CompiledGame.step or own.reset is not CompiledGame.reset:
            return super().bind(state, actions, out)
        advance = [bind(kernel, *given) for kernel, given in self.step_calls(state, actions, out)]
        show = [bind(kernel, *given) for kernel, given in self.observe_calls(state, out)]
        reset = functools.partial(self._reset, bind_all(*show), state, out)
        return BoundBatch(bind_all(*advance, *show), reset)

    def step(self, state: Any, actions: np.ndarray, out: Any) -> None:
        """Advance a batch by one timestep; see ``bind`` if it is to be advanced often."""
        self.advance(state, actions, out)
        self._show(state, out)

    def advance(self, state: Any, actions: np.ndarray, out: Any) -> None:
        """Advance a batch by one timestep without writing observations and masks, for searches that need neither."""
        for kernel, given in self.step_calls(state, actions, out):
            bind(kernel, *given)()

    def observe(self, state: Any, out: Any) -> None:
        """Write observations and masks of a state, which may come from a game that differs in its observations only."""
        out.fresh[:] = True
        self._show(state, out)

    def _show(self, state: Any, out: Any) -> None:
        for kernel, given in self.observe_calls(state, out):
            bind(kernel, *given)()

    def reset(
        self,
        state: Any,
        out: Any,
        which: np.ndarray,
        options: Mapping[str, Any] | None = None,
        max_cycles: int | None = None,
    ) -> None:
        """Start episodes.

        Args:
            state: Batch to change, its generators seeded.
            out: Written.
            which: bool (B,).
            options: Some of ``reset_forms``; all games have ``state``, a scene to start from. None counts as left out.
            max_cycles: Step limit instead of the game's own.

        Raises:
            ValueError: For a misspelt option, an unknown name, or a scene that cannot be; nothing has changed then.
        """
        self._reset(functools.partial(self._show, state, out), state, out, which, options, max_cycles)

    def _reset(
        self,
        show: Callable[[], None],
        state: Any,
        out: Any,
        which: np.ndarray,
        options: Mapping[str, Any] | None = None,
        max_cycles: int | None = None,
    ) -> None:
        checked = {} if options is None else self._read_options(options)
        scene = checked.pop("state", None)
        if scene:
            trial = [type(arrays)(*(array.copy() for array in arrays)) for arrays in (state, out)]
            self._start(*trial, which, checked | {"state": scene}, max_cycles or 0)
            for i in np.flatnonzero(which).tolist():
                trial[1].terminated[i], trial[1].truncated[i] = self._encode(trial[0], i, scene)
                found = self.scene(trial[0], i)
                check_same(scene, found, "state")
                self._check_scene(found)
            for array, tried in zip((*state, *out), (*trial[0], *trial[1]), strict=True):
                array[...] = tried
        else:
            self._start(state, out, which, checked, max_cycles or 0)
        show()

    def _read_options(self, options: Any) -> dict[str, Any]:
        """Return the options of a reset that are for the game, in plain Python and of their forms."""
        if not isinstance(options, Mapping):
            raise ValueError(f"options of reset must be a mapping, not {shown(options)}")
        forms = self.reset_forms()
        for key in options:
            if key not in forms and looks_like(key, forms):  # others are not for us
                raise ValueError(near_matches("reset option", key, forms))
        given = {key: options[key] for key in forms if options.get(key) is not None}
        return {key: forms[key](value, key) for key, value in given.items()}

    def seen(self, state: Any, i: int, seat: int) -> Any:
        """Return what a seat may know of environment ``i``; see ``TextGame``."""
        return self.seat_view(self, rows(state, i, i + 1), seat)

    def state_vector(self, state: Any, i: int) -> np.ndarray:
        """Return the arrays of ``global_state`` of environment ``i`` as one int32 row."""
        return np.concatenate([getattr(state, name)[i].reshape(-1) for name in self.global_state])

    def render(self, state: Any, i: int, mode: str, seat: int | None = None) -> Any:
        """Draw environment ``i``: uint8 (H, W, 3) for ``"rgb_array"``, str for ``"ansi"``; of what a seat may know."""
        from collab_overcooked.render.draw import draw  # takes Pillow along, which those who only step do not need

        scene = self.scene(state, i)
        return draw(self.sheet(scene if seat is None else self.seat_scene(scene, seat), seat), mode)
