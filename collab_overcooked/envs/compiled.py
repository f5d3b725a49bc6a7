"""Base class of games implemented as numba kernels: spaces, batches, resets, bound kernels, default texts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple, Self

import gymnasium
import numpy as np

from collab_overcooked.envs.api import ActionError, BoundBatch, CompiledOutT, FullGame, StateT, rows
from collab_overcooked.envs.event_rewards import Pay, bounds_of
from collab_overcooked.envs.scene_codec import Part, believed, group, limited, read_scene, write_scene
from collab_overcooked.envs.seen import SeatView
from collab_overcooked.io.checks import near_matches, parse_text, quote_value
from collab_overcooked.io.config import Config
from collab_overcooked.io.schema import Parser, check_same, read
from collab_overcooked.kernels.arrays import allocate, as_bytes, clear_rows
from collab_overcooked.kernels.batch_kernels import BatchKernels
from collab_overcooked.kernels.bound import RowsKernel, bind, bind_all
from collab_overcooked.kernels.events import EventField
from collab_overcooked.kernels.jit import row_at
from collab_overcooked.kernels.reasons import ReasonCode
from collab_overcooked.render.model import Card, Drawing, PanelColumn, Text, TextLine

KernelCall = tuple[Any, tuple[Any, ...]]  # a kernel, and what it is called with
Start = Callable[[Mapping[str, Any], int], None]

PETTINGZOO_PROBE = ("options", 1)  # PettingZoo's API tests reset with it, and every environment has to ignore it
KEPT = ("rng", "observations", "masks", "fresh")  # arrays that a reset does not clear
WORDS_WIDTH = 40  # of a picture that has words only, in font sizes


class NoTables(NamedTuple):
    """Tables of games that have none; kernels take tables in any case."""

    unused: np.ndarray


class NoEvents(IntEnum):
    """Codes of games whose rows of events are not those of seats."""


class CompiledGame(FullGame[StateT, CompiledOutT]):
    """Base class of games whose kernels step batches over read-only tables.

    Games are immutable: a copy is the game itself.

    Attributes:
        observed_numbers: Length of an observation, for games that are made by their options alone.
        compiled: Has ``tables``, the NamedTuple of read-only arrays for which kernels are compiled.
        global_state: Names of the state's arrays that are the global state.
        array_classes: Classes of its state and out, declared by ``kernels.arrays.array_of``.
        sizes: Lengths of their axes by letter; N, A, ``numbers``, ``columns`` of events and ``scratch`` have defaults.
        seat_view: Class of a seat's knowledge.
        unsaved: State arrays that are not read with these options; scenes do not restore them.
        kept_between_episodes: State arrays that survive a reset when an option reproduces the original's behaviour.
        events_pay: Whether equal events of a step pay the same; False where open orders decide what they pay.
        event_pay: Reward of each event code, 0 for missing ones; None if rewards do not follow from events.
        planes_axis: Axis of pictures along which their planes are stacked; -1 for vectors.
        step_key: Key of a scene that counts the steps up to its ``limit``.
        hint_keys: Keys of a scene that are ignored if they contradict the others, so that these can be edited alone.
        batch_kernels: Kernels that advance, start and show a batch.
        texts: Texts of all actions by id, where they are the same for all seats at all times.
        things: Names of all things that texts can speak of.
        rules: Rules for seats, if they are the same for all options.
        event_codes: Codes of ``Out.events``, from 0 on; left out where rows of events are not those of seats.
        limit: Step limit of all episodes whose reset names none; 0 for the game's own limits.
        reason_codes: Reasons of ``Out.events`` with their sentences; 0 for accepted actions.
    """

    config_class: type[Config] = Config
    max_cycles: int = 40
    limit: int = 0
    compiled: Any = SimpleNamespace(tables=NoTables(np.zeros(1, np.int32)))
    observed_numbers: int
    global_state: tuple[str, ...]
    unsaved: tuple[str, ...] = ()
    kept_between_episodes: tuple[str, ...] = ()
    events_pay: bool = True
    event_pay: Sequence[Pay] | None = None
    planes_axis: int = -1
    step_key: str = "timestep"
    hint_keys: tuple[str, ...] = ()
    array_classes: tuple[type[StateT], type[CompiledOutT]]
    sizes: Mapping[str, int] = MappingProxyType({})
    seat_view: type[SeatView] = SeatView
    batch_kernels: BatchKernels
    texts: tuple[str, ...]
    things: tuple[str, ...] = ()
    rules: str = ""
    event_codes: type[IntEnum] = NoEvents
    reason_codes: type[ReasonCode]

    def __init__(self, *values: Any, **options: Any) -> None:
        config: Any = self.config_class.read(values, options)
        self.kwargs = config.to_dict()
        self._set_spaces(gymnasium.spaces.Box(0, 255, (self.observed_numbers,), np.uint8))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the declarations of scenes and options, whose functions cannot be pickled."""
        return {name: value for name, value in vars(self).items() if name not in ("_scene", "_parsers", "_initial")}

    def __setstate__(self, values: dict[str, Any]) -> None:
        """Freeze the tables again after unpickling, which forgets it."""
        self.__dict__.update(values)
        for array in self.compiled.tables:
            array.setflags(write=False)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the game itself: nothing in it changes."""
        return self

    def _set_spaces(self, observations: gymnasium.spaces.Box[Any]) -> None:
        self.__setstate__({})
        self.single_observation_space = observations
        self.single_action_space = gymnasium.spaces.Discrete(self.n_actions)
        state, _ = self.alloc(1)
        bounds = np.iinfo(np.int32)
        self.state_space = gymnasium.spaces.Box(bounds.min, bounds.max, self.state_vector(state, 0).shape, np.int32)

    def alloc(self, batch_size: int) -> tuple[StateT, CompiledOutT]:
        """Return state and out of a batch."""
        space, (state, out) = self.single_observation_space, self.array_classes
        defaults = {
            "N": self.n_agents,
            "A": self.n_actions,
            "numbers": int(np.prod(space.shape)),
            "columns": len(EventField),
            "scratch": 0,
        }
        sizes = {**defaults, **self.sizes}
        return allocate(state, sizes, batch_size), allocate(out, sizes, batch_size, observations=space.dtype)

    def step_calls(self, state: StateT, actions: np.ndarray, out: CompiledOutT) -> tuple[KernelCall, ...]:
        """Return the kernel calls that advance a batch by one timestep, in their order."""
        return ((self.batch_kernels.step, (self.compiled.tables, state, actions, out)),)

    def observe_calls(self, state: StateT, out: CompiledOutT) -> tuple[KernelCall, ...]:
        """Return the kernel calls that write observations and masks where ``out.fresh`` says so."""
        return ((self.batch_kernels.observe, (self.compiled.tables, state, out)),)

    def with_spare_planes(self, planes: int) -> Self:
        """Return the game, but with kernels that leave room for more planes behind those of each observation.

        Nothing changes for vectors and for pictures with the planes first, as kernels write the first numbers of a
        longer row; games with other pictures override this.

        Args:
            planes: Number of planes, which are 0 whenever a picture has been drawn.

        Raises:
            NotImplementedError: The game draws such pictures and cannot leave room in them.
        """
        if len(self.single_observation_space.shape) > 1 and self.planes_axis != 0:
            raise NotImplementedError(
                f"{type(self).__name__} draws pictures whose planes are not the first axis; override with_spare_planes"
            )
        return self

    def scene_parts(self) -> Mapping[str, Part]:
        """Declare the parts of scenes in order; every game has ``limit`` and ``chance``."""
        raise NotImplementedError

    def reset_parsers(self) -> dict[str, Parser]:
        """Return the parser of each option of ``reset``; ``state`` has that of a scene, with every key of ``scene``."""
        return {"state": self._scene.parser}

    @functools.cached_property
    def _parsers(self) -> dict[str, Parser]:
        return self.reset_parsers()

    def _choose(self, state: StateT, which: np.ndarray, options: Mapping[str, Any]) -> None:
        """Write choices of reset options into the cleared state, from which the kernels continue."""

    def _default_limit(self, options: Mapping[str, Any]) -> int:
        return self.max_cycles

    def _bind_start(self, state: StateT, out: CompiledOutT) -> Start:
        """Return a function that starts fresh environments from initial arrays, options and a limit of steps."""
        arrays = {**state._asdict(), **out._asdict()}
        rows_of = [as_bytes(arrays[name]) for name in self._initial]
        lengths = np.array([row.size for row in self._initial.values()], np.int32)
        clear = bind(clear_rows, out.fresh, np.concatenate([*self._initial.values()]), lengths, rows_of)
        arguments = self.compiled.tables, state, out, out.fresh
        begin = bind(self.batch_kernels.reset, *arguments, 0)

        def start(options: Mapping[str, Any], limit: int) -> None:
            clear()
            self._choose(state, out.fresh, options)
            begin.func(*begin.args[:4], limit or self._default_limit(options))

        return start

    @functools.cached_property
    def _initial(self) -> dict[str, np.ndarray]:
        return {
            name: as_bytes(array)[0]
            for arrays in self.alloc(1)
            for name, array in arrays._asdict().items()
            if name not in KEPT and arrays._field_defaults[name].fill is not None
        }

    def _encode(self, state: StateT, i: int, scene: Mapping[str, Any]) -> None:
        write_scene(self._scene, state, i, scene)

    def _decode(self, state: StateT, i: int, derived: bool) -> dict[str, Any]:
        return read_scene(self._scene, state, i, derived)

    @functools.cached_property
    def _scene(self) -> Part:
        return group(self.scene_parts())

    def _check_scene(self, scene: dict[str, Any]) -> None:
        """Refuse a scene with all keys but the derived ones that no play can lead to, or that no kernel may touch.

        Raises:
            ValueError: Naming the key, its value and what is allowed beside the other keys.
        """

    def _complete(self, state: StateT, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        """Derive all that follows from a checked scene in environment ``i``; kernels may run from here on.

        Unless a game derives more, an episode is over, and truncated, at its limit.

        Returns:
            Whether the episode is terminated or truncated already, so that nothing can be played on.
        """
        played = self._decode(state, i, False)
        return False, bool(played[self.step_key] >= played["limit"])

    def _check_completed(self, scene: dict[str, Any]) -> None:
        """Reject a completed scene for values that ``_complete`` has derived or checked.

        Raises:
            ValueError: Naming the key, its value and what is allowed.
        """

    def scene(self, state: StateT, i: int) -> dict[str, Any]:
        """Return environment ``i`` as plain words and numbers, fit for JSON."""
        return self._decode(state, i, True)

    def seat_scene(self, scene: dict[str, Any], seat: int) -> dict[str, Any]:
        """Return a scene without the parts that are hidden from a seat."""
        visible: dict[str, Any] = limited(self._scene, scene, seat)
        return visible

    def hidden_keys(self, seat: int) -> tuple[str, ...]:
        """Return the keys of a scene that a seat may not know, or not in full, and may believe something of."""
        return tuple(key for key, part in self._scene.secrets.items() if part.secrets or part.is_secret(seat))

    def sample_belief(self, state: StateT, seat: int, rng: np.random.Generator) -> None:
        """Replace hidden state by a sampled belief of a seat, in every environment of a batch.

        It follows from what scene parts declare; games in which other parts follow from it override this.
        """
        for key in self.hidden_keys(seat):
            part = self._scene.secrets[key]
            for i in range(len(state.rng)):
                write_scene(part, state, i, believed(part, read_scene(part, state, i, False), seat, rng, key))

    @property
    def facts(self) -> Sequence[str]:
        """Facts that a seat may know and its teammates need, the code of ``say:seen``; empty if all know all of it.

        Symbol 1 + k means fact k.
        """
        return ()

    def known_fact(self, scene: Mapping[str, Any], seat: int) -> int | None:
        """Return the number of the fact among ``facts`` that a seat has to tell, by its own scene; None for none."""
        return None

    def learn_fact(self, state: StateT, seat: int, fact: int, then: Mapping[str, Any]) -> None:
        """Let a seat know a fact that it was told, in every environment of a batch, unless it knows better itself.

        Args:
            state: Copy of a state. Mutated.
            seat: Index of the agent.
            fact: Number among ``facts``.
            then: The seat's scene when the teammate chose to say it.
        """

    def drawing(self, scene: dict[str, Any], seat: int | None = None) -> Drawing:
        """Return the picture of a scene, words without a board unless a game has more to show.

        With a seat, the scene has been left what that seat may know.
        """
        cards = tuple(Card((TextLine((Text(line),)),)) for line in scene_lines(scene))
        return Drawing((PanelColumn(cards, WORDS_WIDTH, sum(card.height for card in cards)),))

    def why_refused(self, state: StateT, i: int, seat: int, action: int) -> int:
        """Return the reason code of an action of a seat in environment ``i``, 0 if it would be accepted.

        Raises:
            NotImplementedError: The game gives no reasons.
        """
        if self.batch_kernels.why_refused is None:
            raise NotImplementedError(
                f"{type(self).__name__}: give why_refused to its kernels, or override this method"
            )
        return int(self.batch_kernels.why_refused(self.compiled.tables, row_at(state, i), seat, action))

    def _why_refused_after(self, state: StateT, i: int, seat: int, action: int, earlier: Sequence[int]) -> int:
        """Return the reason code of an action after those of earlier seats, where the game executes them in turn."""
        return self.why_refused(state, i, seat, action)

    def _explain(self, state: StateT, i: int, seat: int, action: int, reason: int) -> str:
        """Return the sentence of a reason code of an action; games whose sentences have fields fill them."""
        return self.reason_codes(reason).sentence

    def check(self, state: StateT, i: int, seat: int, action: int, earlier: Sequence[int] = ()) -> tuple[str, str]:
        """Return name and sentence of an action's reason code; see ``TextGame``."""
        reason = self._why_refused_after(state, i, seat, action, earlier)
        return self.reason_codes(reason).name, self._explain(state, i, seat, action, reason)

    def events(self, out: CompiledOutT, i: int) -> list[dict[str, Any] | None]:
        """Return the name of the event code and of the reason for each agent in the last step."""
        rows = out.events[i, :, : len(EventField)].tolist()
        named = [(self.event_codes(code).name.lower(), self.reason_codes(reason).name) for code, reason in rows]
        return [{"event": event, "reason": reason, "label": event} for event, reason in named]

    @property
    def event_names(self) -> tuple[str, ...]:
        """Names of the events that ``event_counts`` counts; empty for games without codes of events by seat."""
        return tuple(code.name.lower() for code in self.event_codes)

    def event_numbers(self, out: CompiledOutT) -> np.ndarray:
        """Return the event code of each seat in the last step, (B, N) int32."""
        numbers: np.ndarray = out.events[..., EventField.CODE]
        return numbers

    def event_counts(self, out: CompiledOutT) -> np.ndarray:
        """Return how often each event happened to each seat in the last step, (B, N, events)."""
        numbers, codes = self.event_numbers(out)[..., None], np.arange(len(self.event_names))
        counts: np.ndarray = numbers >> codes & 1 if self.events_are_bits else (numbers == codes).astype(np.int32)
        return counts

    def pay_bounds(self, out: CompiledOutT) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the least and the most that each agent may be paid for the last step's events, float64 (B, N) each.

        None if the game does not declare it, see ``event_pay``.
        """
        if self.event_pay is None:
            return None
        return bounds_of(self.event_pay, self.event_names, self.event_counts(out))

    def describe(self, state: StateT, i: int, seat: int) -> str:
        """Return the scene that a seat may know, line by line."""
        scene = self.seat_scene(self.scene(state, i), seat)
        return "\n".join([f"You are {self.display_names[seat]}.", *scene_lines(scene)])

    def names(self) -> list[str]:
        """Return the names of all objects that can occur in texts."""
        return list(self.things)

    def manual(self, state: StateT | None = None, i: int = 0, seat: int = 0) -> str:
        """Return the rules as text for a seat."""
        return self.rules

    @property
    def display_names(self) -> tuple[str, ...]:
        """Names of the seats in texts."""
        return tuple(f"agent_{seat}" for seat in range(self.n_agents))

    def action_texts(self, state: StateT | None = None, i: int = 0, seat: int = 0) -> list[str]:
        """Return the text of every action of a seat, by id."""
        return list(self.texts)

    def parse(self, text: str, state: StateT | None = None, i: int = 0, seat: int = 0) -> int:
        """Return the id of an action's text; case is ignored.

        Raises:
            ActionError: With near matches.
        """
        texts, normalized = self.action_texts(state, i, seat), parse_text(text).strip().lower()
        known = [known_text.lower() for known_text in texts]
        if normalized not in known:
            raise ActionError("F_NO_ACTION", near_matches("action", text, texts))
        return known.index(normalized)

    def parse_plan(self, plan: str, seat: int = 0) -> tuple[list[str], list[str]]:
        """Return the actions of a plan, separated by lines or semicolons; plans contain no requests to teammates."""
        return [
            part.strip() for line in parse_text(plan, "plan").splitlines() for part in line.split(";") if part.strip()
        ], []

    def rejections(self, state: StateT, out: CompiledOutT) -> np.ndarray:
        """Return the reason codes of refused actions, (B, N), from the events."""
        reasons: np.ndarray = out.events[:, :, EventField.REASON]
        return reasons

    def bind(self, state: StateT, actions: np.ndarray, out: CompiledOutT) -> BoundBatch:
        """Return ``step`` and ``reset`` with the arrays of a batch bound to the kernels, so that calls are cheap.

        It can be neither copied nor pickled, and the arrays must not be replaced. Overridden methods are called.
        """
        cls = type(self)
        if cls.step is not CompiledGame.step or cls.reset is not CompiledGame.reset:
            return super().bind(state, actions, out)
        advance = [bind(kernel, *arguments) for kernel, arguments in self.step_calls(state, actions, out)]
        show = [bind(kernel, *arguments) for kernel, arguments in self.observe_calls(state, out)]
        start = self._bind_start(state, out)
        return BoundBatch(bind_all(*advance, *show), functools.partial(self._reset, bind_all(*show), start, state, out))

    def step(self, state: StateT, actions: np.ndarray, out: CompiledOutT) -> None:
        """Advance a batch by one timestep; see ``bind`` if it is to be advanced often."""
        for kernel, arguments in self.step_calls(state, actions, out):
            bind(kernel, *arguments)()
        self._show(state, out)

    def bind_rows(self, state: StateT, actions: np.ndarray, out: CompiledOutT) -> Callable[[int], None]:
        """Return a function that advances the first rows of a batch by one timestep; see ``policies.search.simulator``.

        It writes neither observations nor masks, and takes the number of rows.
        """
        batch = state, actions, out
        kernels = [RowsKernel(kernel, arguments, batch) for kernel, arguments in self.step_calls(*batch)]

        def advance(count: int) -> None:
            for kernel in kernels:
                kernel(count)

        return advance

    def observe(self, state: StateT, out: CompiledOutT) -> None:
        """Write observations and masks of a state, which may come from a game that differs in its observations only."""
        self.bind_observe(state, out)()

    def bind_observe(self, state: StateT, out: CompiledOutT) -> Callable[[], None]:
        """Return ``observe`` with its arrays bound to the kernels, which must not be replaced."""
        show = [bind(kernel, *arguments) for kernel, arguments in self.observe_calls(state, out)]
        return bind_all(functools.partial(out.fresh.fill, True), *show)

    def _show(self, state: StateT, out: CompiledOutT) -> None:
        for kernel, arguments in self.observe_calls(state, out):
            bind(kernel, *arguments)()

    def reset(
        self,
        state: StateT,
        out: CompiledOutT,
        which: np.ndarray,
        options: Mapping[str, Any] | None = None,
        max_cycles: int | None = None,
    ) -> None:
        """Start episodes.

        Args:
            state: Batch to change, its generators seeded.
            out: Written.
            which: bool (B,).
            options: Some of ``reset_parsers``; all games have ``state``, the scene to start from. None: left out.
            max_cycles: Step limit instead of the game's own.

        Raises:
            ValueError: For an unknown option or name, or a scene that cannot be; nothing has changed then.
        """
        show, start = functools.partial(self._show, state, out), self._bind_start(state, out)
        self._reset(show, start, state, out, which, options, max_cycles)

    def _reset(
        self,
        show: Callable[[], None],
        start: Start,
        state: StateT,
        out: CompiledOutT,
        which: np.ndarray,
        options: Mapping[str, Any] | None = None,
        max_cycles: int | None = None,
    ) -> None:
        checked = {} if options is None else self._read_options(options)
        if not checked.get("state"):
            out.fresh[:] = which
            start(checked, max_cycles or self.limit)
        else:
            trial = type(state)(*(array.copy() for array in state))
            results = type(out)(*(array.copy() for array in out))
            results.fresh[:] = which
            self._bind_start(trial, results)(checked, max_cycles or self.limit)
            for i in np.flatnonzero(which).tolist():
                results.terminated[i], results.truncated[i] = self._write_scene(trial, i, checked["state"])
            for array, tried in zip((*state, *out), (*trial, *results), strict=True):
                array[...] = tried
        show()

    def _write_scene(self, state: StateT, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        self._encode(state, i, scene)
        plain = self._decode(state, i, False)
        if plain[self.step_key] > plain["limit"]:
            most = plain["limit"]
            raise ValueError(f"state.{self.step_key} must be at most the limit of {most}, not {plain[self.step_key]}")
        self._check_scene(plain)
        ends = self._complete(state, i, scene)
        completed = self.scene(state, i)
        stated = {key: value for key, value in scene.items() if key not in self.hint_keys}
        check_same(stated, completed, "state")
        self._check_completed(completed)
        return ends

    def state_of(self, scene: Mapping[str, Any]) -> Any:
        """Return a batch of one with a scene, or a seat's part of one; everything else is as after a reset."""
        state, out = self.alloc(1)
        checked = read(self._parsers["state"], scene, "state")
        out.fresh[:] = True
        self._bind_start(state, out)({"state": checked}, 0)
        self._write_scene(state, 0, checked)
        return state

    def _read_options(self, options: object) -> dict[str, Any]:
        if not isinstance(options, Mapping):
            raise ValueError(f"options of reset must be a mapping, not {quote_value(options)}")
        parsers = self._parsers
        for key in options:
            if key not in parsers and (key, options[key]) != PETTINGZOO_PROBE:
                raise ValueError(near_matches("reset option", key, parsers))
        chosen = {key: options[key] for key in parsers if options.get(key) is not None}
        return {key: read(parsers[key], value, key) for key, value in chosen.items()}

    def seen(self, state: StateT, i: int, seat: int) -> Any:
        """Return a seat's knowledge of environment ``i``; see ``TextGame``."""
        return self.seat_view(self, rows(state, i, i + 1), seat)

    def state_vector(self, state: StateT, i: int) -> np.ndarray:
        """Return the arrays of ``global_state`` of environment ``i`` as one int32 row."""
        return self.state_vectors(rows(state, i, i + 1))[0]

    def state_vectors(self, state: StateT) -> np.ndarray:
        """Return the arrays of ``global_state``, an int32 row for each environment."""
        arrays = [getattr(state, name) for name in self.global_state]
        return np.concatenate([array.reshape(len(array), -1) for array in arrays], axis=1)

    def render(self, state: StateT, i: int, mode: str, seat: int | None = None) -> Any:
        """Draw environment ``i``: uint8 (H, W, 3) for ``"rgb_array"``, str for ``"ansi"``; of a seat, its view."""
        from collab_overcooked.render.draw import draw  # takes Pillow along, which those who only step do not need

        scene = self.scene(state, i)
        return draw(self.drawing(scene if seat is None else self.seat_scene(scene, seat), seat), mode)


def scene_lines(scene: Mapping[Any, Any]) -> list[str]:
    """Return a scene as text: a line for each key, and indented lines for nested values."""
    lines = []
    for key, value in scene.items():
        entries = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
        if any(isinstance(entry, (Mapping, list, tuple)) for entry in entries):
            inner = value if isinstance(value, Mapping) else dict(enumerate(value))
            lines += [f"{key}:", *(f"  {line}" for line in scene_lines(inner))]
        elif isinstance(value, Mapping):
            lines.append(f"{key}: {', '.join(f'{name} {part}' for name, part in value.items()) or 'none'}")
        else:
            listed = isinstance(value, (list, tuple))
            lines.append(f"{key}: {(', '.join(map(str, value)) or 'none') if listed else value}")
    return lines
