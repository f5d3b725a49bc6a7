"""Scenes of a state, declared once: the parser, the encoder and the decoder of each key follow from its declaration.

    {
        "timestep": column("clock", Clock.T, integers(0, 400)),
        "cooks": by_entry([group({"at": column("cooks", slice(0, 2), vector(...)), "holds": ...})] * 2, "cooks"),
    }

Nothing here runs a kernel, so scenes can be written and read before anybody has checked that they are consistent.
Who may know a part stands with it, as ``known_to``; what seats are shown and what they believe follows from that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import IntEnum
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.envs.api import State
from collab_overcooked.io import schema
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.schema import Parser
from collab_overcooked.kernels.events import NOTHING
from collab_overcooked.kernels.orders import FORCED_SLOTS, Queue
from collab_overcooked.kernels.rng import rng_from_dict, rng_to_dict

ALL = slice(None)

Draw = Callable[[np.random.Generator], Any]
Belief = Callable[["Part", Any, np.random.Generator], Any]  # of a part and its true value, which beliefs do not read


class Codec(NamedTuple):
    """A value as scenes write it, and the number or the list of numbers that arrays hold for it."""

    parser: Parser
    decode: Callable[[Any], Any]
    encode: Callable[[Any], Any]
    draw: Draw | None = None  # Returns any value that the parser accepts


class Rows(dict[str, Any]):
    """Arrays of one environment by name, taken from a state when first needed: lists for reading, views for writing.

    Attributes:
        derived: Whether values are read that follow from others.
        env: All arrays of the environment, whatever entry these are.
    """

    def __init__(self, take: Callable[[str], Any], derived: bool, env: Rows | None = None) -> None:
        super().__init__()
        self._take = take
        self.derived = derived
        self.env = self if env is None else env

    def __missing__(self, name: str) -> Any:
        """Take an array."""
        self[name] = array = self._take(name)
        return array

    def entry(self, k: int) -> Rows:
        """Return entry ``k`` of all these arrays."""
        return Rows(lambda name: self[name][k], self.derived, self.env)


def _leave(rows: Rows, value: object) -> None:
    """Write nothing."""


class Part(NamedTuple):
    """A part of a scene."""

    parser: Parser  # What it may say
    read: Callable[[Rows], Any]  # Returns it from rows of lists
    # Writes it into rows of arrays; does nothing for what follows from the other parts
    write: Callable[[Rows, Any], None] = _leave
    derived: bool = False  # Whether it is left out, and not written by groups, as long as no kernel may run
    draw: Draw | None = None  # Returns any value that the parser accepts
    known_to: Collection[int] | Callable[[int], bool] | None = None  # Seats, or a rule of them; None for all
    belief: Belief | None = None  # Returns what a seat that may not know it takes for possible
    secrets: Mapping[Any, Part] = MappingProxyType({})  # Parts of it by key that not all seats know in full

    def is_known_to(self, seat: int) -> bool:
        """Return whether a seat may know it, but for its ``secrets``."""
        seats = self.known_to
        return seats is None or (seats(seat) if callable(seats) else seat in seats)

    def is_secret(self, seat: int) -> bool:
        """Return whether a seat has to believe something in its place."""
        return not self.is_known_to(seat) and self.belief is not kept


def read_scene(scene: Part, state: State, i: int, derived: bool) -> dict[str, Any]:
    """Return the scene of environment ``i``."""
    decoded: dict[str, Any] = scene.read(Rows(lambda name: getattr(state, name)[i].tolist(), derived))
    return decoded


def write_scene(scene: Part, state: State, i: int, values: object) -> None:
    """Write parsed values of a scene into environment ``i``; keys left out keep their values."""
    scene.write(Rows(lambda name: getattr(state, name)[i], True), values)


def uniform(part: Part, value: object, rng: np.random.Generator) -> Any:
    """Believe that a part is anything that its parser accepts, with equal probability.

    Raises:
        TypeError: The parser of a part does not say how it is drawn.
    """
    if part.draw is None:
        raise TypeError("a part whose parser does not say how it is drawn needs a belief of its own")
    return part.draw(rng)


def kept(part: Part, value: object, rng: np.random.Generator) -> Any:
    """Leave a part as it is: scenes of seats only leave it out, or the game's own ``sample_belief`` replaces it."""
    return value


def limited(part: Part, value: Any, seat: int) -> Any:
    """Return the value of a part without its entries that are hidden from a seat; in lists, None replaces them."""
    visible = value.copy() if part.secrets else value
    for key, inner in part.secrets.items():
        if isinstance(visible, dict) and (key not in visible or not inner.is_known_to(seat)):
            visible.pop(key, None)
        else:
            visible[key] = limited(inner, visible[key], seat) if inner.is_known_to(seat) else None
    return visible


def believed(part: Part, value: Any, seat: int, rng: np.random.Generator, name: str, redraws: bool = False) -> Any:
    """Return a value of a part with beliefs of all that a seat may not know.

    With ``redraws``, what can be drawn by its parser is, whatever is believed, unless it is ``kept``.

    Raises:
        ValueError: A hidden part declares no belief.
    """
    if not part.is_known_to(seat):
        if part.belief is None and not redraws:
            raise ValueError(f"the scene part {name} is hidden from seat {seat}, but declares no belief")
        return (uniform if redraws and part.draw and part.belief is not kept else part.belief or kept)(part, value, rng)
    changed = value.copy() if part.secrets else value
    for key in part.secrets:
        if not isinstance(changed, dict) or key in changed:
            changed[key] = believed(part.secrets[key], changed[key], seat, rng, f"{name}.{key}", redraws)
    return changed


def _same(value: object) -> Any:
    return value


def integers(least: int, most: int) -> Codec:
    """Code integers of a range by themselves."""
    return Codec(schema.integer(least, most), _same, _same, lambda rng: int(rng.integers(least, most, endpoint=True)))


def _one_of(values: Sequence[Any]) -> Draw:
    return lambda rng: values[int(rng.integers(len(values)))]


def _each(draws: Sequence[Draw | None]) -> Draw | None:
    return None if None in draws else lambda rng: [draw(rng) for draw in draws]  # type: ignore[misc]


COUNT = integers(0, MAX_OPTION)
BOOLEAN = Codec(schema.boolean_or_bit, bool, int, _one_of((False, True)))


def vector(entries: Sequence[Codec], what: str) -> Codec:
    """Code lists with one value for each codec."""
    parser = schema.tuple_of([entry.parser for entry in entries], what)
    draw = _each([entry.draw for entry in entries])
    if all(entry.decode is _same for entry in entries):
        return Codec(parser, _same, _same, draw)

    def decode(row: Sequence[int]) -> list[Any]:
        return [entry.decode(code) for entry, code in zip(entries, row, strict=True)]

    def encode(values: Sequence[Any]) -> list[int]:
        return [entry.encode(value) for entry, value in zip(entries, values, strict=True)]

    return Codec(parser, decode, encode, draw)


def names_of(names: Sequence[Any], what: str, allowed: Sequence[Any] | None = None) -> Codec:
    """Encode names by their index; only names in ``allowed`` may be written, all if None."""
    choice = names if allowed is None else allowed
    return Codec(schema.one_of(choice, what), names.__getitem__, names.index, _one_of(choice))


def members_of(kind: type[IntEnum], what: str, lower: bool = True) -> Codec:
    """Code the members of an enum, by default in lower case, by their values."""
    names = {member.value: member.name.lower() if lower else member.name for member in kind}
    values = {name: value for value, name in names.items()}
    return Codec(schema.one_of(list(values), what), names.__getitem__, values.__getitem__, _one_of(list(values)))


def optional(codec: Codec, nothing: Any = NOTHING) -> Codec:
    """Code None as ``nothing``, and all else by a codec."""
    return Codec(
        schema.optional(codec.parser),
        lambda code: None if code == nothing else codec.decode(code),
        lambda value: nothing if value is None else codec.encode(value),
        codec.draw and (lambda rng: codec.draw(rng) if rng.integers(2) else None),  # type: ignore[misc]
    )


def counts(names: Sequence[str], most: int, what: str, allowed: Sequence[str] | None = None) -> Codec:
    """Code how many there are of each name, where there are any, as one number for each name."""
    keys = names if allowed is None else allowed
    return Codec(
        schema.mapping_of(schema.integer(1, most), keys, what),
        lambda row: {name: count for name, count in zip(names, row, strict=True) if count},
        lambda value: [value.get(name, 0) for name in names],
        lambda rng: {name: int(rng.integers(1, most, endpoint=True)) for name in keys if rng.integers(2)},
    )


def sequence(item: Codec, slots: int, what: str, least: int = 0) -> Codec:
    """Code lists of up to ``slots`` values, padded with ``NOTHING``."""
    return Codec(
        schema.list_of(item.parser, least, slots, what),
        lambda row: [item.decode(code) for code in row if code != NOTHING],
        lambda values: [*map(item.encode, values), *[NOTHING] * (slots - len(values))],
        item.draw and (lambda rng: [item.draw(rng) for _ in range(rng.integers(least, slots, endpoint=True))]),  # type: ignore[misc]
    )


def column(array: str, index: int | slice, codec: Codec, **knowledge: Any) -> Part:
    """Declare a value in an entry or slice of a row of ``array``, and the seats that know it; see ``Part``."""

    def write(rows: Rows, value: object) -> None:
        rows[array][index] = codec.encode(value)

    return Part(codec.parser, lambda rows: codec.decode(rows[array][index]), write, draw=codec.draw, **knowledge)


def span(array: str, index: int, least: int, most: int, **knowledge: Any) -> Part:
    """Declare an integer of a range."""
    return column(array, index, integers(least, most), **knowledge)


def row(array: str, codec: Codec, **knowledge: Any) -> Part:
    """Declare a value that a whole row of ``array`` holds."""
    return column(array, ALL, codec, **knowledge)


def _secrets(parts: Mapping[Any, Part]) -> dict[Any, Part]:
    return {key: part for key, part in parts.items() if part.known_to is not None or part.secrets}


def columns(array: str, codec: Codec, **indices: int) -> dict[str, Part]:
    """Declare values of the same kind by their keys."""
    return {key: column(array, index, codec) for key, index in indices.items()}


def group(parts: Mapping[str, Part], required: Sequence[str] = ()) -> Part:
    """Declare a mapping with a part for each key."""

    def read(rows: Rows) -> dict[str, Any]:
        return {key: part.read(rows) for key, part in parts.items() if rows.derived or not part.derived}

    def write(rows: Rows, value: Mapping[str, Any]) -> None:
        for key, part in parts.items():
            if key in value and not part.derived:
                part.write(rows, value[key])

    draws = _each([part.draw for part in parts.values()])
    return Part(
        schema.record({key: part.parser for key, part in parts.items()}, required),
        read,
        write,
        draw=draws and (lambda rng: dict(zip(parts, draws(rng), strict=True))),
        secrets=_secrets(parts),
    )


def by_entry(parts: Sequence[Part], what: str) -> Part:
    """Declare a list with a part for each entry of the arrays that the parts name."""
    return listing([entry(part, k) for k, part in enumerate(parts)], what)


def entry(part: Part, k: int) -> Part:
    """Declare a part of entry ``k`` of the arrays that it names."""
    return part._replace(
        read=lambda rows: part.read(rows.entry(k)), write=lambda rows, value: part.write(rows.entry(k), value)
    )


def listing(parts: Sequence[Part], what: str) -> Part:
    """Declare a list of parts that name different places of the same arrays."""

    def write(rows: Rows, value: Sequence[Any]) -> None:
        for part, entry in zip(parts, value, strict=True):
            part.write(rows, entry)

    parser = schema.tuple_of([part.parser for part in parts], what)
    draw = _each([part.draw for part in parts])
    secrets = _secrets(dict(enumerate(parts)))
    return Part(parser, lambda rows: [part.read(rows) for part in parts], write, draw=draw, secrets=secrets)


def entries(parts: Mapping[str, Part]) -> Part:
    """Declare a mapping with a part for each entry of the arrays that the parts name."""
    return group({name: entry(part, k) for k, (name, part) in enumerate(parts.items())})


def by_name(names: Sequence[str], part: Part, what: str) -> Part:
    """Declare a mapping from names to the entries of the arrays that a part names."""
    return entries(dict.fromkeys(names, part))._replace(parser=schema.mapping_of(part.parser, names, what))


def bits(array: str, index: int, names: Sequence[str], what: str) -> Part:
    """Declare a boolean for each name, all of which are bits of one entry."""

    def write(rows: Rows, value: Mapping[str, bool]) -> None:
        for name, is_set in value.items():
            bit = 1 << names.index(name)
            rows[array][index] = rows[array][index] & ~bit | (bit if is_set else 0)

    def read(rows: Rows) -> dict[str, bool]:
        return {name: bool(rows[array][index] >> k & 1) for k, name in enumerate(names)}

    return Part(schema.mapping_of(schema.boolean_or_bit, names, what), read, write)


def read_only(part: Part, derived: bool = False) -> Part:
    """Declare a part that is read as declared, and not written."""
    return part._replace(write=_leave, derived=derived)


def constant(parser: Parser, value: object) -> Part:
    """Declare a part with the same value in all scenes."""
    return Part(parser, lambda rows: value)


def rng_state(max_draws: int = 2**31 - 1) -> Part:
    """Declare the state of the random generator, which no seat knows; searches seed their copies anew."""
    parser = {"seed": schema.integer(0, 2**64 - 1), "draws": schema.integer(0, max_draws)}
    return row("rng", Codec(schema.record(parser, tuple(parser)), rng_to_dict, rng_from_dict), known_to=(), belief=kept)


def clock(array: str, **indices: int) -> dict[str, Part]:
    """Declare the counter of steps and, by the second key, their limit, and the random generator."""
    (steps, played), (limit, most) = indices.items()
    return {steps: column(array, played, COUNT), limit: span(array, most, 1, MAX_OPTION), "chance": rng_state()}


def open_orders(orders: Codec, remaining: Codec, slots: int, in_use: int, required: Sequence[str] = ("name",)) -> Part:
    """Declare a queue of orders, see ``kernels.orders``; ``in_use`` is the column of the clock for its length."""
    order = schema.record({"name": orders.parser, "remaining": remaining.parser}, required)

    def read(rows: Rows) -> list[dict[str, Any]]:
        queue = rows["orders"][: rows["clock"][in_use]]
        return [{"name": orders.decode(order), "remaining": remaining.decode(left)} for left, order in queue]

    def write(rows: Rows, value: Sequence[Mapping[str, Any]]) -> None:
        queue = sorted((remaining.encode(entry.get("remaining")), entry["name"]) for entry in value)
        array = rows["orders"]
        array[:, Queue.REMAINING], array[:, Queue.ORDER] = 0, NOTHING
        for k, (left, name) in enumerate(queue):
            array[k] = left, orders.encode(name)
        rows["clock"][in_use] = len(queue)

    return Part(schema.list_of(order, 0, slots, "orders"), read, write)


def forced_orders(orders: Codec, used: int) -> Part:
    """Declare the forced orders, hidden from all seats; column ``used`` counts how many have come."""
    listed = row("forced", sequence(orders, FORCED_SLOTS, "orders"))
    parts = {"orders": listed, "used": span("clock", used, 0, FORCED_SLOTS)}
    none = {"orders": [], "used": 0}
    return group(parts, tuple(parts))._replace(known_to=(), belief=lambda part, value, rng: none)


def check_forced(scene: Mapping[str, Any]) -> None:
    """Reject a scene in which more forced orders have come than exist."""
    used, most = scene["forced"]["used"], len(scene["forced"]["orders"])
    if used > most:
        raise ValueError(f"state.forced.used must be an integer from 0 to {most}, not {used}")
