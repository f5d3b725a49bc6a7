"""Teams: one policy per seat, written as ``agent_0=planner agent_1=greedy``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.io.checks import near_matches
from collab_overcooked.policies.api import Policy, TeamAware

MakePolicy = Callable[[str], Policy]
SEAT = re.compile(r"(?:agent_\d+|all)=")
ALL = "all"  # stands for all seats that are not named
SWAPPED = ", seats swapped"  # suffix of a task that a team plays in reversed order of seats


def spec_of(entry: str) -> str:
    """Return the policy spec of a ``seat=policy`` text, or of a spec without a seat."""
    seat = SEAT.match(entry)
    return entry[seat.end() :] if seat else entry


@dataclass(frozen=True)
class Team:
    """The policies of all seats, and their specs."""

    specs: tuple[str, ...]  # Policy specs in seat order, for example ``("planner", "noisy:0.2")``
    policies: tuple[Policy, ...]  # One policy per seat

    @property
    def names(self) -> tuple[str, ...]:
        """Policy names by seat."""
        return tuple(policy.name for policy in self.policies)


def read_team(team: str | Mapping[str, str] | Iterable[str]) -> list[str]:
    """Return a team as ``seat=policy`` texts.

    Args:
        team: A mapping of seats to policies, the line that tables print (``"agent_0=planner agent_1=greedy"``), a list
            of texts, or a list of at least two policies in seat order.
    """
    if isinstance(team, str):
        return re.split(rf"\s+(?={SEAT.pattern})", team.strip())
    if isinstance(team, Mapping):
        return [f"{seat}={spec}" for seat, spec in team.items()]
    entries = list(team)
    if len(entries) > 1 and not any("=" in entry.split(":")[0] for entry in entries):
        return [f"agent_{seat}={spec}" for seat, spec in enumerate(entries)]
    return entries


def parse_seats(assignments: Iterable[str], n_agents: int) -> tuple[str, ...]:
    """Parse ``seat=policy`` assignments.

    Args:
        assignments: For example ``["agent_0=planner", "agent_1=greedy"]``, in any order; ``all=greedy`` is for all
            seats that are not named.
        n_agents: Number of seats.

    Returns:
        Policy specs in seat order.

    Raises:
        ValueError: A seat is unknown, given twice or left without a policy.
    """
    seats = [f"agent_{i}" for i in range(n_agents)]
    chosen: dict[str, str] = {}
    for assignment in assignments:
        seat, equals, spec = assignment.partition("=")
        if not equals or not spec.strip():
            raise ValueError(f"team: {assignment!r} should read seat=policy, for example {seats[0]}=random")
        if seat not in (*seats, ALL):
            raise ValueError(f"team: {near_matches('seat', seat, [*seats, ALL])}")
        if seat in chosen:
            raise ValueError(f"team: seat {seat} is given twice; keep one of {chosen[seat]!r} and {spec!r}")
        chosen[seat] = spec.strip()
    if ALL in chosen:
        chosen = dict.fromkeys(seats, chosen[ALL]) | chosen
    missing = [seat for seat in seats if seat not in chosen]
    if missing:
        example = " ".join(f"{seat}=random" for seat in missing)
        raise ValueError(f"team: no policy for {', '.join(missing)}; add for example {example}")
    return tuple(chosen[seat] for seat in seats)


def _specs_of(team: str | Mapping[str, str] | Iterable[str]) -> tuple[str, ...]:
    specs = (team,) if isinstance(team, str) else tuple(team)
    if not isinstance(team, Mapping) and not any(SEAT.match(spec.strip()) for spec in specs):
        return specs
    assignments = read_team(team)
    if any(entry.startswith(f"{ALL}=") for entry in assignments):
        raise ValueError(f"team: {ALL!r} leaves open how many seats there are; name every seat")
    return parse_seats(assignments, len(assignments))


def make_team(specs: str | Mapping[str, str] | Iterable[str], make: MakePolicy | None = None) -> Team:
    """Create a team with a new policy for each seat.

    Args:
        specs: Policy specs in seat order, or a team in a form of ``read_team`` that names every seat.
        make: Factory of policies; the registry of policies if None.

    Raises:
        ValueError: For an unknown policy.
    """
    if make is None:
        from collab_overcooked.policies.specs import make_policy

        make = make_policy
    chosen = _specs_of(specs)
    policies = tuple(make(spec) for spec in chosen)
    for policy in policies:
        if isinstance(policy, TeamAware):
            policy.join(policies)
    return Team(chosen, policies)


def seats_by_size(team: Iterable[str], sizes: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """Parse ``seat=policy`` assignments for teams of several sizes; see ``parse_seats``.

    Raises:
        ValueError: A seat is unknown, given twice or left without a policy.
    """
    assignments, specs_by_size = list(team), {}
    for size in sizes:
        try:
            specs_by_size[size] = parse_seats(assignments, size)
        except ValueError as error:
            raise ValueError(f"{error} (with {size} agents)") from None
    return specs_by_size


def both_orders(task: str, specs: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """Return task and policy specs of both orders of seats; only one if all policies are equal."""
    orders = [(task, specs)]
    return orders if len(set(specs)) == 1 else [*orders, (task + SWAPPED, specs[::-1])]


def specs_as_given(record: EpisodeRecord) -> tuple[str, ...]:
    """Return the policy specs of a record in the original order of the team."""
    specs = record.specs
    return specs[::-1] if record.task.endswith(SWAPPED) else specs


def team_text(specs: Iterable[str]) -> str:
    """Return a team as text that is equal for teams of different sizes: ``"agent_0=random all=greedy"``."""
    seats = list(specs)
    seat_specs = [f"agent_{i}={spec}" for i, spec in enumerate(seats) if spec != seats[-1]]
    return " ".join([*seat_specs, f"all={seats[-1]}"])
