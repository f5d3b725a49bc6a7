"""Facts about language agents: their switches and their prompt files."""

from __future__ import annotations

from collab_overcooked import registry
from collab_overcooked.game_spec import LEGAL, VOCABULARY
from collab_overcooked.policies.llm.settings import describe_settings
from collab_overcooked.reporting.floors import stored_floors

from .writing import code, listing, plain, table


def language_switches() -> str:
    """List what may be written after a model's name; switches of ``cots`` alone are on the page of its parameters."""
    rows = []
    for name, default, text in describe_settings():
        if default.startswith("cots "):
            continue
        agents: dict[str, list[str]] = {}
        for agent, _, value in (part.partition(" ") for part in default.split(", ")):
            agents.setdefault(value, []).append(agent)
        if "" not in agents:
            default = "; ".join(f"{value}: {', '.join(names)}" for value, names in agents.items())
        rows.append((code(name), "" if default == "none" else plain(default), plain(text)))
    return listing(rows)


def blind_floors() -> str:
    """Show what the best rule without understanding scores in each setting by its menu, beside ``greedy``."""
    rows = []
    for game, floors in stored_floors().floors.items():
        benchmark = registry.load_suite(game).benchmark("small")
        for name, floor in floors.items():
            title = f"{benchmark.title}, {name}{', less is better' if benchmark.lower_is_better else ''}"
            menus = [VOCABULARY, LEGAL] if floor.legal else [LEGAL]
            for menu in menus:
                best = floor.under(menu)
                scores = [score * benchmark.scale for score in (best.score, floor.greedy or 0.0)]
                share = scores[0] / scores[1] if scores[1] else 0.0
                share = 1 / share if benchmark.lower_is_better and share else share
                rule = code(best.rule.partition(",")[0])
                shown = [f"{score:.2f}" for score in scores]
                rows.append((title, menu, floor.episodes, rule, *shown, f"{100 * share:.0f} %", floor.version))
    heads = ("setting", "menu", "episodes", "best rule", "floor", "`greedy`", "share", "version")
    return table(heads, rows, right=(2, 4, 5, 6))


FACTS = (blind_floors, language_switches)
