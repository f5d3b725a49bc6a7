"""One policy per seat, as users write it: ``agent_0=planner agent_1=greedy``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from collab_overcooked.io.checks import near_matches
from collab_overcooked.policies.api import Policy, TeamAware

MakePolicy = Callable[[str], Policy]
ALL = "all"  # stands for the seats that no other word names
MAX_SPEC = 1_000  # characters of a policy text, as in records
SWAPPED = ", seats swapped"  # ends the name of a task that a team plays in the other order of seats


@dataclass(frozen=True)
class Team:
    """The policies of all seats, and the texts that make them again.

    Attributes:
        specs: Policy texts in seat order, for example ``("planner", "noisy:0.2")``.
        policies: One policy for each seat.
    """

    specs: tuple[str, ...]
    policies: tuple[Policy, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Policy names by seat."""
        return tuple(policy.name for policy in self.policies)


def parse_seats(words: Iterable[str], n_agents: int) -> tuple[str, ...]:
    """Read ``seat=policy`` words.

    Args:
        words: For example ``["agent_0=planner", "agent_1=greedy"]``, in any order; ``all=greedy`` is for all seats
            that no other word names.
        n_agents: Number of seats.

    Returns:
        Policy texts in seat order.

    Raises:
        ValueError: For a word without ``=``, an unknown seat, a seat named twice or left out.
    """
    seats = [f"agent_{i}" for i in range(n_agents)]
    chosen: dict[str, str] = {}
    for word in words:
        seat, equals, spec = word.partition("=")
        if not equals or not spec.strip():
            raise ValueError(f"team: {word!r} should read seat=policy, for example {seats[0]}=random")
        if seat not in (*seats, ALL):
            raise ValueError(f"team: {near_matches('seat', seat, [*seats, ALL])}")
        if seat in chosen:
            raise ValueError(f"team: seat {seat} is given twice; keep one of {chosen[seat]!r} and {spec!r}")
        if len(spec) > MAX_SPEC:
            raise ValueError(f"team: the policy of {seat} has {len(spec)} characters, allowed are {MAX_SPEC}")
        chosen[seat] = spec.strip()
    if ALL in chosen:
        chosen = dict.fromkeys(seats, chosen[ALL]) | chosen
    missing = [seat for seat in seats if seat not in chosen]
    if missing:
        example = " ".join(f"{seat}=random" for seat in missing)
        raise ValueError(f"team: no policy for {', '.join(missing)}; add for example {example}")
    return tuple(chosen[seat] for seat in seats)


def make_team(specs: Iterable[str], make: MakePolicy | None = None) -> Team:
    """Make the policies of a team, a fresh one for each seat.

    Args:
        specs: Policy texts in seat order.
        make: Turns a text into a policy; the registry of policies if None.

    Raises:
        ValueError: For an unknown policy.
    """
    if make is None:
        from collab_overcooked.policies.registry import make_policy

        make = make_policy
    specs = tuple(specs)
    policies = tuple(make(spec) for spec in specs)
    for policy in policies:
        if isinstance(policy, TeamAware):
            policy.join(policies)
    return Team(specs, policies)


def seats_by_size(team: Iterable[str], sizes: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """Read ``seat=policy`` words for teams of several sizes; see ``parse_seats``.

    Raises:
        ValueError: If the words do not fit one of the sizes; the message names it.
    """
    words, found = list(team), {}
    for size in sizes:
        try:
            found[size] = parse_seats(words, size)
        except ValueError as error:
            raise ValueError(f"{error} (with {size} agents)") from None
    return found


def both_orders(task: str, specs: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """Return task and policy texts of both ways to seat a team; one way if its policies are the same."""
    orders = [(task, specs)]
    return orders if len(set(specs)) == 1 else [*orders, (task + SWAPPED, specs[::-1])]


def specs_as_given(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the policy texts of a record in the order in which the team was written."""
    specs = tuple(record["team"].values())
    return specs[::-1] if record["task"].endswith(SWAPPED) else specs


def size_words(n_agents: int) -> str:
    """Write the size of a team: ``"1 agent"``, ``"2 agents"``."""
    return f"{n_agents} agent{'s' * (n_agents != 1)}"


def team_words(specs: Iterable[str]) -> str:
    """Write a team so that teams of different sizes compare: ``"agent_0=random all=greedy"``."""
    seats = list(specs)
    words = [f"agent_{i}={spec}" for i, spec in enumerate(seats) if spec != seats[-1]]
    return " ".join([*words, f"all={seats[-1]}"])
