"""Check of scenario files, and the generator of scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from collab_overcooked.games.rush.engine.spec import FOLDER, KEYS, load_scenario
from collab_overcooked.io.document_kinds import DocumentKind, Finding
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.options import option


@dataclass(frozen=True, kw_only=True)
class ScenarioOptions:
    """Search budget of proofs."""

    budget: int | None = option(None, "Maximum states of each search.")


def check_scenarios(sources: Sequence[str], options: ScenarioOptions) -> Finding:
    """Prove what the team and a single agent can reach, and the claims of each file."""
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
    "Proves what the team and a single agent can reach, and the claims of the file.",
    ScenarioOptions,
)


@dataclass(frozen=True, kw_only=True)
class ScenarioGenerator:
    """Scenario of a given optimum, or new episodes of a scenario, with a proof of its claims."""

    seed: int = option(0, "Random seed.")
    tightness: float | None = option(None, "From 0, plenty of everything, to 1, nothing to spare. Default: 1.")
    turns: int | None = option(
        None, "Turns for all orders: of one agent at tightness 0, else of the team. Default: 10."
    )
    episodes: int = option(3, "Episodes; later ones are the first with goods exchanged.")
    agents: int | None = option(None, "Agents. Default: 2.")
    workers: int | None = option(None, "Workers of each agent. Default: 2.")
    orders: int | None = option(None, "Orders of an episode. Default: 5.")
    max_turns: int | None = option(None, "Turns of an episode, if more than --turns; only with tightness 0.")
    like: str | None = option(None, "Scenario whose first episode to take instead of a new one.")
    budget: int | None = option(None, "Maximum states of each search.")

    def write(self, out: Path, command: str) -> Finding:
        """Write the YAML file ``out``, headed by the command that makes it."""
        from collab_overcooked.games.rush.engine.generate import Wish, episodes_like, generate_scenario, scenario_text
        from collab_overcooked.games.rush.engine.search import BUDGET
        from collab_overcooked.games.rush.engine.solvability import prove_solvability, report_text

        if out.suffix not in (".yaml", ".yml"):
            raise ValueError(f"out: {out} should end in .yaml")
        wishes = ("tightness", "turns", "agents", "workers", "orders", "max_turns")
        values = {name: value for name, value in asdict(self).items() if name in wishes and value is not None}
        flags = {name: f"--{name.replace('_', '-')}" for name in values}
        arguments = [command, f"--seed {self.seed} --episodes {self.episodes}"]
        arguments += [f"{flags[name]} {value:g}" for name, value in values.items()]
        states = BUDGET if self.budget is None else self.budget
        if self.like is not None:
            for name in values:
                raise ValueError(f"option {flags[name]} has no effect with --like: {self.like} defines it")
            arguments.append(f"--like {self.like}")
            values = episodes_like(load_scenario(self.like), self.episodes, self.seed, out.stem, states)
        else:
            values = generate_scenario(Wish(episodes=self.episodes, **values), self.seed, out.stem, states)
        report = prove_solvability(load_scenario(values), states)
        write_atomic(out, scenario_text(values, " ".join(arguments)).encode())
        return Finding(report_text(report), report.to_dict(), report.ok)
