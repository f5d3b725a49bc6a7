"""The check of scenario files, and the command that makes new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from collab_overcooked.games.rush.engine.spec import FOLDER, KEYS, load_scenario
from collab_overcooked.io.document_kinds import DocumentKind, Finding
from collab_overcooked.io.options import option


@dataclass(frozen=True, kw_only=True)
class ScenarioOptions:
    """How far proofs go."""

    budget: int | None = option(None, "States that each search may look at.")


def check_scenarios(sources: Sequence[str], options: ScenarioOptions) -> Finding:
    """Prove what all agents and one agent alone can reach, and what each file claims.

    Raises:
        LayoutError: If a scenario cannot be read.
    """
    from collab_overcooked.games.rush.engine.search import BUDGET
    from collab_overcooked.games.rush.engine.solvability import prove_solvability, report_text

    budget = BUDGET if options.budget is None else options.budget
    reports = [prove_solvability(load_scenario(source), budget) for source in sources]
    text = "\n\n".join(map(report_text, reports))
    return Finding(text, [report.to_dict() for report in reports], all(report.ok for report in reports))


SCENARIO = DocumentKind(
    "scenario",
    FOLDER,
    KEYS,
    check_scenarios,
    "Proves what all agents and one agent alone can reach, and what the file claims.",
    ScenarioOptions,
)


@dataclass(frozen=True, kw_only=True)
class ScenarioGenerator:
    """A scenario of a wanted optimum, or new episodes of a scenario, with a proof of what it claims."""

    seed: int = option(0, "Seed of all that is drawn.")
    tightness: float | None = option(None, "0 for plenty of everything to 1 (if not given) for nothing to spare.")
    turns: int | None = option(None, "Turns for all orders (10): of one agent at tightness 0, else of the team.")
    episodes: int = option(3, "Episodes, each the first one with goods exchanged.")
    agents: int | None = option(None, "Agents (2).")
    workers: int | None = option(None, "Workers of each agent (2).")
    orders: int | None = option(None, "Orders of an episode (5).")
    max_turns: int | None = option(None, "Turns of an episode, if more; at tightness 0 only.")
    like: str | None = option(None, "Scenario whose first episode to take instead of a new one.")
    budget: int | None = option(None, "States that searches may look at.")

    def write(self, out: Path, command: str) -> Finding:
        """Write the YAML file ``out``, headed by the command that makes it.

        Raises:
            ValueError: For options that exclude each other, or if there is no such scenario.
        """
        from collab_overcooked.games.rush.engine.generate import Wish, episodes_like, generate_scenario, scenario_text
        from collab_overcooked.games.rush.engine.search import BUDGET
        from collab_overcooked.games.rush.engine.solvability import prove_solvability, report_text

        if out.suffix not in (".yaml", ".yml"):
            raise ValueError(f"out: {out} should end in .yaml")
        wishes = ("tightness", "turns", "agents", "workers", "orders", "max_turns")
        given = {name: value for name, value in asdict(self).items() if name in wishes and value is not None}
        flags = {name: f"--{name.replace('_', '-')}" for name in given}
        words = [command, f"--seed {self.seed} --episodes {self.episodes}"]
        words += [f"{flags[name]} {value:g}" for name, value in given.items()]
        states = BUDGET if self.budget is None else self.budget
        if self.like is not None:
            for name in given:
                raise ValueError(f"option {flags[name]} means nothing with --like: it takes what {self.like} says")
            words.append(f"--like {self.like}")
            values = episodes_like(load_scenario(self.like), self.episodes, self.seed, out.stem, states)
        else:
            values = generate_scenario(Wish(episodes=self.episodes, **given), self.seed, out.stem, states)
        report = prove_solvability(load_scenario(values), states)
        out.write_text(scenario_text(values, " ".join(words)), encoding="utf-8")
        return Finding(report_text(report), report.to_dict(), report.ok)
