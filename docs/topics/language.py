"""Facts about language agents: their switches, their prompt files, and how much an episode asks."""

from __future__ import annotations

from pathlib import Path

from collab_overcooked.evaluation.forecast import needs
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.policies.llm.budget import Price
from collab_overcooked.policies.llm.prompts import template_folders
from collab_overcooked.policies.llm.settings import describe_settings

from .writing import code, plain, table

EXAMPLE = Price(2.5, 10.0)
SUITES = (
    ("collab-overcooked", "all=llm:model"),
    ("initiations", "agent_0=llm:model"),
    ("cuisineworld", "all=llm:model"),
    ("craft", "all=llm:model"),
    ("overcooked", "all=llm:model"),
    ("rush", "all=llm:model"),
    ("collab-capture", "all=llm:model"),
    ("collab-escape", "all=llm:model"),
    ("housework", "all=llm:model"),
    ("housework", "all=llm:model?agent=coela"),
    ("housework", "all=llm:model?agent=cots"),
    ("transport", "all=llm:model?agent=coela"),
)


def language_switches() -> str:
    """List what may be written after a model's name."""
    rows = [(code(name), plain(usual), plain(words)) for name, usual, words in describe_settings()]
    return table(("switch", "if not written", "what it does"), rows)


def prompt_files() -> str:
    """List the templates by folder."""
    rows = []
    for folder, path in sorted(template_folders().items()):
        names = ", ".join(code(template.name) for template in sorted(Path(path).glob("*.j2")))
        rows.append((code(folder), names))
    return table(("folder", "templates"), rows)


def language_costs() -> str:
    """Show what suites ask as they are played by default, from recorded lengths of whole episodes."""
    rows = []
    for suite, team in SUITES:
        plan = plan_evaluation(suite, [team], **({"agents": (2,)} if suite == "cuisineworld" else {}))
        for (_, agent), need in needs(plan, [], {"": EXAMPLE}).items():
            episodes, *sums, _ = need.cells()
            questions, asked, said, dollars = (float(own) / float(episodes) for own in sums)  # type: ignore[arg-type]
            cells = f"{questions:,.0f}", f"{asked:,.0f}", f"{said:,.0f}", f"{dollars:.3f}"
            rows.append((code(suite), agent, *cells, episodes, f"{dollars * float(str(episodes)):,.2f}"))
    heads = (
        "suite",
        "agent",
        "questions",
        "tokens in",
        "tokens out",
        "dollars",
        "episodes of the suite",
        "dollars of all",
    )
    return table(heads, rows, right=range(2, 8))


FACTS = (language_switches, prompt_files, language_costs)
