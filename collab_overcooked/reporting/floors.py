"""Floors: stored scores of the best blind rule in the settings of comparisons.

``python benchmarks/floors.py`` measures them, in episodes of other seeds than those that comparisons play.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.game_spec import LEGAL
from collab_overcooked.io.files import read_text
from collab_overcooked.io.structs import Count, Name, Number, Text, decode
from collab_overcooked.policies.blind_rules import BLIND, RULES
from collab_overcooked.policies.llm.settings import CAPO, COELA, ROCO, settings_of
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.env_variants import variant_of
from collab_overcooked.runner.teams import team_text

STORED = Path(__file__).with_name("floors.json")
BEST = "best rule without understanding"
RULE_SPECS = tuple(f"{BLIND}:{rule}" for rule in ("1", "2", *RULES))


TITLE = f"Above the {BEST}"
NOTE = (
    "Floor: what the best rule that understands nothing scores in the setting, measured with {versions} in other "
    "episodes. A model that is not above it has not shown that it understands anything."
)
_COLUMNS = (
    Column("Setting"),
    Column("Team"),
    Column("Score", "number", 2),
    Column("Floor", "number", 2),
    Column("Above", "number", 2),
    Column("Rule"),
)


class RuleScore(Struct, frozen=True):
    """Score of a blind rule in a setting."""

    rule: Name  # Its spec
    score: Number  # Mean over its episodes


class Floor(Struct, frozen=True):
    """Score of the best of ``RULE_SPECS`` in a setting, with the menu of the game."""

    rule: Name  # Its spec
    score: Number  # Mean over its episodes
    episodes: Count  # Their number
    plays: tuple[tuple[Text, Text], ...]  # What the setting consists of: tasks, with the keys of their variants
    version: Name  # Version of the package that played
    greedy: Number | None = None  # Score of the policy ``greedy`` in the same episodes
    legal: RuleScore | None = None  # The best rule for lists of legal actions, where the game's menu has others too

    def under(self, menu: str | None) -> RuleScore:
        """Return the best rule for a menu, see ``GameSpec``; None for the game's own."""
        return self.legal if menu == LEGAL and self.legal is not None else RuleScore(self.rule, self.score)


class FloorTable(Struct, frozen=True):
    """All floors, as they are stored."""

    seed: Count  # Seed of the plans
    floors: Mapping[str, Mapping[str, Floor]]  # By suite and setting


@lru_cache(maxsize=1)
def stored_floors() -> FloorTable:
    """Return the measured floors."""
    return decode(read_text(STORED), FloorTable)


def known_floors(game: str) -> Mapping[str, Floor]:
    """Return the stored floors of a suite by setting; floors are known for default options only."""
    return stored_floors().floors.get(game, {})


def play_of(record: EpisodeRecord) -> tuple[str, str]:
    """Return the task and variant key of a record."""
    return str(record.task), variant_of(record).key


def menu_of_team(specs: Sequence[str]) -> str | None:
    """Return ``"legal"`` for a team with a language policy that reads lists of legal actions alone, else None."""
    agents = [settings for spec in specs if (settings := settings_of(spec)) is not None]
    lists_legal = (agent.agent in (COELA, ROCO, CAPO) or agent.switches.get("menu") == LEGAL for agent in agents)
    return LEGAL if any(lists_legal) else None


def floor_card(records: Sequence[EpisodeRecord]) -> Scorecard | None:
    """Return the scores of teams with language models above the floors of the settings that they played.

    Returns:
        None if no such team played all tasks of a setting whose floor is known.
    """
    teams: dict[tuple[str, str, str | None], list[EpisodeRecord]] = {}
    for record in records:
        if record.accounts:
            specs = tuple(record.team.values())
            key = registry.suite_of(record).name, team_text(specs), menu_of_team(specs)
            teams.setdefault(key, []).append(record)
    rows: list[tuple[Cell, ...]] = []
    versions: set[str] = set()
    for (game, team, menu), played in teams.items():
        suite = registry.load_suite(game)
        kinds = {id(record): play_of(record) for record in played}
        for setting, floor in known_floors(game).items():
            there = [record for record in played if kinds[id(record)] in floor.plays]
            if {kinds[id(record)] for record in there} < set(floor.plays):
                continue
            score = suite.summary(there).score
            if score is not None:
                benchmark = suite.benchmark("small")
                sign = -1 if benchmark.lower_is_better else 1
                best = floor.under(menu)
                above = sign * (score.value - best.score) * benchmark.scale
                shown = (score.value * benchmark.scale, best.score * benchmark.scale, above)
                rows.append((f"{benchmark.title}, {setting}", team, *shown, best.rule))
                versions.add(floor.version)
    if not rows:
        return None
    word = "version" if len(versions) == 1 else "versions"
    note = NOTE.format(versions=f"{word} {' and '.join(sorted(versions))} of the package")
    return Scorecard("floors", TITLE, (ResultTable(_COLUMNS, tuple(rows)),), notes=(note,))
