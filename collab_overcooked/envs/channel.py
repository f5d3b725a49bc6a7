"""Channel of symbols for any game: with every action, an agent may say one of K symbols that have no fixed meaning.

``TalkingGame`` holds the game without a channel, the quiet game. Kernels of the game get the arrays of the quiet game,
so that none is compiled twice. An action id is ``symbol * A + act``: ids below A say nothing.
"""

from __future__ import annotations

import math
import re
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from inspect import isroutine
from typing import Any, cast

import gymnasium
import numpy as np

from collab_overcooked.core.limits import HEARERS, MAX_DELAY
from collab_overcooked.envs.api import ActionError, BoundBatch, clone, is_sequential, rows
from collab_overcooked.envs.compiled import CompiledGame, KernelCall, Start
from collab_overcooked.envs.lexicon import TranslatedGame
from collab_overcooked.envs.scene_codec import (
    COUNT,
    Part,
    column,
    group,
    integers,
    limited,
    listing,
    read_scene,
    rng_state,
    row,
    uniform,
    vector,
    write_scene,
)
from collab_overcooked.envs.seen import SeatView
from collab_overcooked.io.checks import parse_text, quote_value
from collab_overcooked.io.config import Config, choice, integer, number
from collab_overcooked.io.schema import Parser
from collab_overcooked.kernels.arrays import array_of
from collab_overcooked.kernels.bound import RowsKernel, bind, bind_all
from collab_overcooked.kernels.channel import append_symbols, charge_symbols, delay_symbols, hear_symbols, split_actions
from collab_overcooked.render.model import Drawing, Text, TextLine

MAX_SYMBOLS = 64
MASK_WORDS = tuple(map(np.dtype, (np.int64, np.int32, np.int16, np.int8)))  # the largest that divides a mask is copied
SAID, PENDING, NOISE_STEPS, CHANCE = "said", "pending", "noise_steps", "chance"  # keys of scenes
SPOKEN = re.compile(r"\s*say\s+(\d+)\s*:\s*(.*)", re.DOTALL | re.IGNORECASE)
HEARD_BY = {
    "all": "All agents hear it {when}.",
    "ring": "The next agent hears it {when}, and nobody else.",
    "one-way": "All others hear {first} {when}; nobody hears them.",
    "nobody": "No other agent hears it.",
}


@dataclass(frozen=True)
class ChannelConfig(Config):
    """Options of the channel, which every game takes."""

    channel: int = integer(
        0, "Number of symbols, one of which an agent may say with each action; 0 for no channel.", 0, MAX_SYMBOLS
    )
    channel_to: str = choice(
        "all",
        "Who hears an agent beside itself: all agents, the next one (``ring``), all but only agent_0 (``one-way``), or "
        "nobody.",
        tuple(HEARERS),
    )
    channel_noise: float | None = number(
        None, "Probability that a symbol is replaced by one that is drawn uniformly; None for no noise.", below=1
    )
    channel_delay: int = integer(0, "Steps by which symbols are heard later than in the next step.", 0, MAX_DELAY)
    channel_cost: float | None = number(
        None, "What each symbol costs the team: it is subtracted from the reward of every agent; None if talk is free."
    )


STATE = {SAID: array_of("N"), PENDING: array_of("delay", "N"), NOISE_STEPS: array_of(1)}
OUT = {
    "quiet_masks": array_of("N", "A", dtype=np.int8),
    "acts": array_of("N", fill=None),
    "spoken": array_of("N", fill=None),  # symbols that were said in this step
}


class TalkingArrays:
    """A state or an out of a game with a channel.

    Attributes:
        quiet: The arrays of the quiet game, on the same memory. Its kernels write the first part of observations, of
            pictures all planes but the last ones.
    """

    quiet: Any


@cache
def _talking_class(kind: Any, is_state: bool) -> type[Any]:
    """Return a NamedTuple of a game's arrays and those of the channel; ``quiet`` has the game's, on the same memory."""
    more, size = STATE if is_state else OUT, len(kind._fields)
    defaults = [*kind._field_defaults.values(), *more.values()]
    name = f"Talking{kind.__name__}"
    base: Any = namedtuple(name, [*kind._fields, *more], defaults=defaults)  # type: ignore[misc]

    def quiet(arrays: Any) -> Any:
        if is_state:
            return kind(*arrays[:size])
        return kind(*arrays[:size])._replace(masks=arrays.quiet_masks)

    def reduce(arrays: Any) -> tuple[Any, ...]:
        return _rebuild, (kind, is_state, tuple(arrays))

    return type(name, (TalkingArrays, base), {"quiet": cached_property(quiet), "__reduce__": reduce})


def _rebuild(kind: type[Any], is_state: bool, arrays: tuple[np.ndarray, ...]) -> Any:
    return _talking_class(cast("Any", kind), is_state)(*arrays)


def quiet_arrays(arrays: Any) -> Any:
    """Return a state or out without the arrays of a channel, on the same memory; as it is without a channel."""
    return arrays.quiet if isinstance(arrays, TalkingArrays) else arrays


class TalkingView:
    """Knowledge of a seat of a game with a channel: that of the quiet game, and the symbols that the seat hears.

    Args:
        game: Game with a channel, in the language in which it is played.
        state: State as a batch of one.
        seat: Index of the agent.

    Attributes:
        quiet: Knowledge of the seat without the channel.
    """

    scene = SeatView.scene
    picture = SeatView.picture
    observed_by = SeatView.observed_by

    def __init__(self, game: Any, state: Any, seat: int) -> None:
        self._game = game
        self._state = state
        self._seat = seat
        self.quiet = game.quiet.seen(state.quiet, 0, seat)

    def __getattr__(self, name: str) -> Any:
        """Return what the channel does not change."""
        if name.startswith("__") or name == "quiet":
            raise AttributeError(name)
        return getattr(self.quiet, name)

    def hearing(self, said: Sequence[int]) -> TalkingView:
        """Return the knowledge that the seat would have had other symbols (N,) been said in the last step."""
        state = clone(self._state, 0)
        state.said[0] = said
        return TalkingView(self._game, state, self._seat)

    def told(self, learn: Callable[[Any], None]) -> Any:
        """Return the knowledge without the channel that the seat would have had, had it known more.

        Args:
            learn: Adds to a copy of the quiet state what the seat was told.
        """
        state = clone(self._state, 0).quiet
        learn(state)
        return self._game.quiet.seen(state, 0, self._seat)

    def _spoken(self, texts: Sequence[str]) -> list[str]:
        spoken: list[str] = self._game.spoken(texts, self._game.quiet.n_actions)
        return spoken

    def _with_symbols(self, text: str) -> str:
        return f"{text}\n{self._game.heard_text(self._state, 0, self._seat)}"

    def _with_rules(self, text: str) -> str:
        return "\n".join(filter(None, (text, self._game.channel_rules())))

    @cached_property
    def text(self) -> str:
        """The state as text."""
        return self._with_symbols(self.quiet.text)

    @cached_property
    def manual(self) -> str:
        """The game's manual, and the rules of the channel."""
        return self._with_rules(self.quiet.manual)

    @cached_property
    def action_texts(self) -> list[str]:
        """Texts of all actions by id, in this state."""
        return self._spoken(self.quiet.action_texts)

    @cached_property
    def action_labels(self) -> dict[str, str]:
        """Label for people of each action text."""
        labels = self.quiet.action_labels
        return dict(zip(self._spoken(list(labels)), self._spoken(list(labels.values())), strict=True))

    @cached_property
    def surroundings(self) -> str:
        """The state as text for people."""
        return self._with_symbols(self.quiet.surroundings)

    @property
    def lone_texts(self) -> None:
        """None: a channel is for several agents."""
        return

    @property
    def rules(self) -> str:
        """The rules for people."""
        return self._with_rules(self.quiet.rules)

    @property
    def picture_rules(self) -> str:
        """The rules for people who see pictures."""
        return self._with_rules(self.quiet.picture_rules)

    @property
    def picture_manual(self) -> str:
        """The manual for language agents that see pictures."""
        return self._with_rules(self.quiet.picture_manual)

    @property
    def vocabulary(self) -> Sequence[str]:
        """Texts of all actions that the seat could ever take."""
        vocabulary: list[str] = self._game.spoken(list(self.quiet.vocabulary))
        return vocabulary

    @property
    def refusals(self) -> dict[str, str]:
        """Reason for each action that the game would refuse, by the action's text."""
        refused = self.quiet.refusals
        texts = [self._game.spoken([text]) for text in refused]
        return {one: refused[spoken[0]] for spoken in texts for one in spoken}


QUIET_METHODS = frozenset({"known_to", "act_seat", "command", "describe_scene"})
"""Methods that only some games have, see ``TalkingGame._define``."""
WIDE = frozenset(
    {"alloc", "bind", "bind_observe", "observe", "render", "reset", "scene", "state_of", "state_vector"}
    | {"state_vectors", "step", "single_observation_space", "single_action_space", "state_space", "seen"}
)
"""Names that work on the wider arrays as every ``CompiledGame`` has them."""


class TalkingGame(CompiledGame[Any, Any]):
    """A game in which agents say a symbol with each action.

    ``said`` (B, N) of the state has the symbols that are heard, those of the last step without a delay, 0 for none;
    ``pending`` (B, delay, N) has those that will be heard, the next ones first. An observation has K more numbers, or
    planes of pictures, for each agent: the agent's own symbol first, then those of the next agents, wrapping around.

    Args:
        game: The quiet game, without a lexicon.
        config: Options of the channel.

    Attributes:
        channel_config: Options of the channel.
        symbols: K.
        hears: int8 (N, N), 1 where the first agent hears the second.

    Raises:
        ValueError: The game has one agent, or is no ``CompiledGame``.
    """

    def __init__(self, game: Any, config: ChannelConfig) -> None:
        if not isinstance(game, CompiledGame):
            raise ValueError(f"channel: {game.id} is no CompiledGame, which a channel needs")
        if game.n_agents < 2:
            raise ValueError(
                f"channel needs at least 2 agents, not the {game.n_agents} of {game.id} with these options"
            )
        self._quiet: Any = game
        self.channel_config, self.symbols = config, config.channel
        self.id = game.id
        self.n_agents = game.n_agents
        self.exact_masks = game.exact_masks
        for name in dir(game):
            if not name.startswith("_") and name not in WIDE | QUIET_METHODS and not hasattr(TalkingGame, name):
                self._forward(name)
        for name in FORWARDED:
            self._forward(name)
        for name in QUIET_METHODS:
            if hasattr(game, name):
                setattr(self, name, getattr(self, f"_{name}"))
        defaults = ChannelConfig().to_dict()
        changed = {name: value for name, value in config.to_dict().items() if value != defaults[name]}
        self.kwargs = {**game.kwargs, **changed}
        state, out = game.array_classes
        self.array_classes = _talking_class(cast("Any", state), True), _talking_class(cast("Any", out), False)
        self.n_actions = game.n_actions * (self.symbols + 1)
        self._word = next(word for word in MASK_WORDS if game.n_actions % word.itemsize == 0)
        noise, self._delay = config.channel_noise or 0.0, config.channel_delay
        self._cost = np.array([config.channel_cost or 0.0], np.float64)
        more = [name for name, is_used in ((PENDING, self._delay), (NOISE_STEPS, noise)) if is_used]
        self.global_state = (*game.global_state, SAID, *more)
        self.events_pay = game.events_pay and not config.channel_cost
        self.deterministic = game.deterministic and not noise
        self.unsaved = tuple(name for name in game.unsaved if not (noise and name == "rng"))
        self._numbers = np.array([game.n_actions, self.symbols, round(noise * 2**32)], np.int64)
        agents, hears = range(game.n_agents), HEARERS[config.channel_to]
        self.hears = np.array([[hears(j, i, game.n_agents) for j in agents] for i in agents], np.int8)
        self._drawn: Any = game.with_spare_planes(self.n_agents * self.symbols)
        self._make_spaces(game.single_observation_space)

    def _make_spaces(self, box: gymnasium.spaces.Box[Any]) -> None:
        shape, axis = box.shape, self._quiet.planes_axis % len(box.shape)
        area = math.prod(shape[axis + 1 :])
        form = [math.prod(shape[:axis]), math.prod(shape[axis:]), area, self.symbols]
        self._form = np.array([*form, *self.hears.reshape(-1).tolist()], np.int32)
        more = (*shape[:axis], self.n_agents * self.symbols, *shape[axis + 1 :])
        low = np.concatenate([box.low, np.zeros(more, box.dtype)], axis=axis)
        high = np.concatenate([box.high, np.ones(more, box.dtype)], axis=axis)
        self._set_spaces(gymnasium.spaces.Box(low, high, dtype=box.dtype.type))

    def _forward(self, name: str) -> None:
        value = getattr(self._quiet, name)
        setattr(self, name, partial(_quietly, value) if isroutine(value) else value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments of the constructor."""
        return TalkingGame, (self._quiet, self.channel_config)

    @property
    def quiet(self) -> Any:
        """The game without its channel."""
        return self._quiet

    @property
    def max_cycles(self) -> int:
        """Maximum length of an episode in steps."""
        return int(self._quiet.max_cycles)

    @max_cycles.setter
    def max_cycles(self, limit: int) -> None:
        self._quiet.max_cycles = limit

    @property
    def display_names(self) -> tuple[str, ...]:
        return tuple(self._quiet.display_names)

    @property
    def facts(self) -> Sequence[str]:
        return tuple(self._quiet.facts)

    @property
    def event_names(self) -> tuple[str, ...]:
        return tuple(self._quiet.event_names)

    def alloc(self, batch_size: int) -> tuple[Any, Any]:
        state, out = self._quiet.alloc(batch_size)
        talking_state, talking_out = self.array_classes
        numbers, agents = math.prod(self.single_observation_space.shape), self.n_agents
        wide = out._replace(
            observations=np.zeros((batch_size, agents, numbers), out.observations.dtype),
            masks=np.zeros((batch_size, agents, self.n_actions), out.masks.dtype),
        )
        said, acts, spoken = np.zeros((3, batch_size, agents), np.int32)
        pending = np.zeros((batch_size, self._delay, agents), np.int32)
        noise_steps = np.zeros((batch_size, 1), np.int32)
        heard = talking_state(*state, said, pending, noise_steps)
        return heard, talking_out(*wide, out.masks, acts, spoken)

    def step_calls(self, state: Any, actions: np.ndarray, out: Any) -> tuple[KernelCall, ...]:
        rejected = self._quiet.rejections(state.quiet, out.quiet)
        said = state.rng, state.noise_steps, out.spoken, state.said
        charge: KernelCall = charge_symbols, (out.spoken, self._cost, out.rewards)
        delay: KernelCall = delay_symbols, (out.fresh, state.pending, state.said)
        return (
            (split_actions, (actions, self._numbers, out.acts, out.spoken)),
            *self._quiet.step_calls(state.quiet, out.acts, out.quiet),
            (hear_symbols, (self._numbers, rejected, out.fresh, *said)),
            *((charge,) if self._cost[0] else ()),
            *((delay,) if self._delay else ()),
        )

    def observe_calls(self, state: Any, out: Any) -> tuple[KernelCall, ...]:
        return *self._drawn.observe_calls(state.quiet, out.quiet), self._append_call(state, out)

    def _append_call(self, state: Any, out: Any) -> KernelCall:
        narrow, wide = out.quiet_masks.view(self._word), out.masks.view(self._word)
        return append_symbols, (narrow, state.said, out.fresh, self._form, out.observations, wide)

    def quiet_part(self, observations: np.ndarray) -> np.ndarray:
        """Return what the quiet game shows of observations (..., shape), a view of them."""
        shape = self._quiet.single_observation_space.shape
        axis = self._quiet.planes_axis % len(shape)
        planes = np.moveaxis(observations, axis - len(shape), -1)[..., : shape[axis]]
        return np.moveaxis(planes, -1, axis - len(shape))

    def bind_rows(self, state: Any, actions: np.ndarray, out: Any) -> Callable[[int], None]:
        calls = self.step_calls(state, actions, out)
        fixed = self._quiet.compiled.tables, self._numbers, self._cost
        batch = [one for _, given in calls for one in given if not any(one is other for other in fixed)]
        kernels = [RowsKernel(kernel, given, batch) for kernel, given in calls]

        def advance(count: int) -> None:
            for advance_rows in kernels:
                advance_rows(count)

        return advance

    def bind(self, state: Any, actions: np.ndarray, out: Any) -> BoundBatch:
        bound = super().bind(state, actions, out)
        if not is_sequential(self._quiet):
            return bound
        inner = self._drawn.bind(state.quiet, out.acts, out.quiet).act
        act = inner or partial(self._drawn.act_seat, state.quiet, out.acts, out.quiet)
        split = bind(split_actions, actions, self._numbers, out.acts, out.spoken)
        append, arguments = self._append_call(state, out)
        return bound._replace(act=bind_all(split, act, bind(append, *arguments)))

    def _act_seat(self, state: Any, actions: np.ndarray, out: Any) -> None:
        """Let the seat whose turn it is act; its symbol is heard when the step ends."""
        split_actions(actions, self._numbers, out.acts, out.spoken)
        self._drawn.act_seat(state.quiet, out.acts, out.quiet)
        append, arguments = self._append_call(state, out)
        bind(append, *arguments)()

    def _command(self, state: Any, out: Any, commands: Sequence[str], i: int = 0) -> Any:
        """Advance environment ``i`` by a list of commands, which say nothing."""
        report = self._drawn.command(state.quiet, out.quiet, commands, i)
        one_state, one_out = rows(state, i, i + 1), rows(out, i, i + 1)
        heard = np.concatenate([one_state.pending, np.zeros_like(one_state.said)[:, None]], axis=1)
        one_state.said[:], one_state.pending[:] = heard[:, 0], heard[:, 1:]
        append, arguments = self._append_call(one_state, one_out)
        bind(append, *arguments)()
        return report

    def _known_to(self, seat: int) -> TalkingGame:
        known = self._quiet.known_to(seat)
        return self if known is self._quiet else TalkingGame(known, self.channel_config)

    def _describe_scene(self, scene: Mapping[str, Any], seat: int) -> str:
        said = self._heard_lines(scene[SAID], seat)
        return f"{self._quiet.describe_scene(self._without_channel(scene), seat)}\n{said}"

    def _bind_start(self, state: Any, out: Any) -> Start:
        begin = self._quiet._bind_start(state.quiet, out.quiet)

        def start(options: Mapping[str, Any], limit: int) -> None:
            state.said[out.fresh] = 0
            state.pending[out.fresh] = 0
            out.spoken[out.fresh] = 0
            state.noise_steps[out.fresh] = 0
            begin(options, limit)

        return start

    def scene_parts(self) -> Mapping[str, Part]:
        return {**self._quiet.scene_parts(), **self._channel_parts}

    @cached_property
    def _channel_parts(self) -> dict[str, Part]:
        symbol, seats = integers(0, self.symbols), range(self.n_agents)
        heard = [column(SAID, seat, symbol, **self._knowledge(seat)) for seat in seats]
        more: dict[str, Part] = {}
        if self._delay:
            steps = vector([vector([symbol] * self.n_agents, "symbols")] * self._delay, "steps")
            more[PENDING] = row(PENDING, steps, known_to=(), belief=uniform)
        if self.channel_config.channel_noise:
            more[NOISE_STEPS] = column(NOISE_STEPS, 0, COUNT)
            if CHANCE not in self._quiet.scene_parts():
                more[CHANCE] = rng_state()
        return {SAID: listing(heard, "symbols"), **more}

    def _knowledge(self, speaker: int) -> dict[str, Any]:
        hears = self.hears[:, speaker]
        return {} if hears.all() else {"known_to": tuple(np.flatnonzero(hears).tolist()), "belief": uniform}

    @cached_property
    def _channel(self) -> Part:
        return group(self._channel_parts)

    def _without_channel(self, scene: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in scene.items() if key not in self._channel_parts}

    def _of_channel(self, scene: Mapping[str, Any]) -> dict[str, Any]:
        return {key: scene[key] for key in self._channel_parts if key in scene}

    def _encode(self, state: Any, i: int, scene: Mapping[str, Any]) -> None:
        self._quiet._encode(state.quiet, i, self._without_channel(scene))
        write_scene(self._channel, state, i, self._of_channel(scene))

    def _decode(self, state: Any, i: int, derived: bool) -> dict[str, Any]:
        return {**self._quiet._decode(state.quiet, i, derived), **read_scene(self._channel, state, i, derived)}

    def reset_parsers(self) -> dict[str, Parser]:
        return {**self._quiet.reset_parsers(), "state": self._scene.parser}

    def _read_options(self, options: object) -> dict[str, Any]:
        if not isinstance(options, Mapping) or options.get("state") is None:
            return self._quiet._read_options(options)
        others = {name: value for name, value in options.items() if name != "state"}
        state = super()._read_options({"state": options["state"]})
        return {**self._quiet._read_options(others), **state}

    def _default_limit(self, options: Mapping[str, Any]) -> int:
        return self._quiet._default_limit(options)

    def _check_scene(self, scene: dict[str, Any]) -> None:
        self._quiet._check_scene(self._without_channel(scene))

    def _complete(self, state: Any, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        return self._quiet._complete(state.quiet, i, self._without_channel(scene))

    def _check_completed(self, scene: dict[str, Any]) -> None:
        self._quiet._check_completed(self._without_channel(scene))

    def seat_scene(self, scene: dict[str, Any], seat: int) -> dict[str, Any]:
        heard: dict[str, Any] = limited(self._channel, self._of_channel(scene), seat)
        return self._quiet.seat_scene(self._without_channel(scene), seat) | heard

    def hidden_keys(self, seat: int) -> tuple[str, ...]:
        hidden = [key for key, part in self._channel.secrets.items() if part.secrets or part.is_secret(seat)]
        return (*self._quiet.hidden_keys(seat), *hidden)

    def sample_belief(self, state: Any, seat: int, rng: np.random.Generator) -> None:
        self._quiet.sample_belief(state.quiet, seat, rng)
        for speaker in np.flatnonzero(self.hears[seat] == 0).tolist():
            state.said[:, speaker] = rng.integers(0, self.symbols, len(state.said), endpoint=True)
        if self._delay:
            state.pending[:] = rng.integers(0, self.symbols, state.pending.shape, endpoint=True)

    def pay_bounds(self, out: Any) -> Any:
        """Return the bounds of the quiet game less what the step's symbols cost."""
        bounds = self._quiet.pay_bounds(out.quiet)
        cost = self._cost * np.count_nonzero(out.spoken, axis=1)[:, None]
        return None if bounds is None else (bounds[0] - cost, bounds[1] - cost)

    def drawing(self, scene: dict[str, Any], seat: int | None = None) -> Drawing:
        drawing = self._quiet.drawing(self._without_channel(scene), seat)
        notes = tuple(
            TextLine((Text(line),)) for line in self._lines(scene.get(SAID, [None] * self.n_agents), self.display_names)
        )
        return replace(drawing, notes=(*drawing.notes, *notes))

    def _lines(self, said: Sequence[int | None], names: Sequence[str]) -> list[str]:
        heard = [(name, symbol) for name, symbol in zip(names, said, strict=True) if symbol is not None]
        return [f"{name} said {symbol or 'nothing'}." for name, symbol in heard]

    def _heard_lines(self, said: Sequence[int | None], seat: int) -> str:
        names = [*self.display_names]
        names[seat] = "You"
        return "\n".join(self._lines(said, names))

    def heard_text(self, state: Any, i: int, seat: int) -> str:
        """Return the symbols that a seat hears in environment ``i``, a sentence for each agent."""
        said, hears = state.said[i].tolist(), self.hears[seat].tolist()
        return self._heard_lines([symbol if heard else None for symbol, heard in zip(said, hears, strict=True)], seat)

    def channel_rules(self) -> str:
        """Return the rules of the channel, a few sentences."""
        config, names = self.channel_config, self.display_names
        when = f"{self._delay + 1} steps later" if self._delay else "in the next step"
        heard_by = HEARD_BY[config.channel_to].format(when=when, first=names[0])
        lines = [
            f'With each action you may say one of the symbols 1 to {self.symbols}: write "say 1: " before the action.',
            f"Symbols have no fixed meaning. {heard_by} A refused action says nothing.",
        ]
        if config.channel_cost:
            lines.append(f"Each symbol costs every agent {config.channel_cost:g} points.")
        if config.channel_noise:
            lines.append(f"With probability {config.channel_noise:g}, a random symbol is heard instead.")
        return "\n".join(lines)

    def layout_numbers(self, state: Any) -> np.ndarray:
        return self._quiet.layout_numbers(state.quiet)

    def describe(self, state: Any, i: int, seat: int) -> str:
        return f"{self._quiet.describe(state.quiet, i, seat)}\n{self.heard_text(state, i, seat)}"

    def manual(self, state: Any = None, i: int = 0, seat: int = 0) -> str:
        manual = self._quiet.manual(None if state is None else state.quiet, i, seat)
        return "\n".join(filter(None, (manual, self.channel_rules())))

    def spoken(self, texts: Sequence[str], acts: int = 0) -> list[str]:
        """Return texts of silent actions, then the same with each symbol.

        Args:
            texts: Texts of acts by id.
            acts: Number of ids by symbol; ids without a text get an empty one. The number of texts if 0.
        """
        padding = [""] * max(acts - len(texts), 0)
        blocks = [list(texts)]
        for symbol in range(1, self.symbols + 1):
            blocks[-1] += padding
            blocks.append([text and f"say {symbol}: {text}" for text in texts])
        return [text for block in blocks for text in block]

    def action_texts(self, state: Any = None, i: int = 0, seat: int = 0) -> list[str]:
        texts = self._quiet.action_texts(None if state is None else state.quiet, i, seat)
        return self.spoken(texts, self._quiet.n_actions)

    def action_labels(self, state: Any = None, i: int = 0, seat: int = 0) -> list[str]:
        labels = self._quiet.action_labels(None if state is None else state.quiet, i, seat)
        return self.spoken(labels, self._quiet.n_actions)

    def parse(self, text: str, state: Any = None, i: int = 0, seat: int = 0) -> int:
        spoken, symbol = SPOKEN.fullmatch(parse_text(text)), 0
        if spoken:
            symbol, text = int(spoken[1][:9]), spoken[2]
            if not 1 <= symbol <= self.symbols:
                allowed = f"an integer from 1 to {self.symbols}"
                raise ActionError("F_NO_SYMBOL", f"say: the symbol must be {allowed}, not {quote_value(symbol)}")
        act = self._quiet.parse(text, None if state is None else state.quiet, i, seat)
        acts = self._quiet.n_actions
        return act + (symbol if act < acts else self.symbols) * acts

    def act_of(self, action: int) -> int:
        """Return an action without its symbol; unknown ones and those that are never possible stay apart from acts."""
        acts = self._quiet.n_actions
        return action % acts if 0 <= action < self.n_actions else action - self.symbols * acts if action > 0 else action

    def check(self, state: Any, i: int, seat: int, action: int, earlier: Sequence[int] = ()) -> tuple[str, str]:
        return self._quiet.check(state.quiet, i, seat, self.act_of(action), [self.act_of(one) for one in earlier])

    def why_refused(self, state: Any, i: int, seat: int, action: int) -> int:
        return self._quiet.why_refused(state.quiet, i, seat, self.act_of(action))

    def seat_view(self, game: Any, state: Any, seat: int) -> Any:  # type: ignore[override]
        """Return a seat's knowledge of a state, in the language of ``game``."""
        return TalkingView(game, state, seat)


OWN = frozenset(name for name in vars(TalkingGame) if not name.startswith("_"))
FORWARDED = frozenset(name for name in dir(CompiledGame) if not name.startswith("_")) - OWN - WIDE
"""Members of every game that the channel does not change."""


def _quietly(method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return method(*map(quiet_arrays, args), **{name: quiet_arrays(value) for name, value in kwargs.items()})


def add_channel(game: Any, config: ChannelConfig) -> Any:
    """Return a game with a channel; the game itself with 0 symbols.

    Raises:
        ValueError: The game cannot have a channel, or an option of the channel is given without symbols.
    """
    if config.channel:
        return TalkingGame(game, config)
    for name, value in ChannelConfig().to_dict().items():
        if getattr(config, name) != value:
            raise ValueError(f"{name} needs channel, the number of symbols, which is 0")
    return game


def talking_game(game: Any) -> TalkingGame | None:
    """Return the game with its channel and without its lexicon; None without a channel."""
    inner = game.plain if isinstance(game, TranslatedGame) else game
    return inner if isinstance(inner, TalkingGame) else None


def act_text(text: str) -> str:
    """Return the text of an action or a plan without its symbol."""
    spoken = SPOKEN.fullmatch(text)
    return spoken[2] if spoken else text
