"""Signatures and docstrings of the API page, and the scripts of other trainers, as Markdown."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

from collab_overcooked import registry

from .writing import DOCS, code, plain, table

SECTIONS = ("Args", "Attributes", "Returns", "Raises", "Yields")
ENTRY = re.compile(r"    (\*{0,2}\w+): (.*)")

PAGE: dict[str, tuple[str, ...]] = {
    "environments": (
        "registry.make",
        "registry.make_vec",
        "registry.registered",
        "registry.register_game",
        "game_record.GameRecord",
    ),
    "single": ("envs.parallel.ParallelEnv",),
    "batches": ("envs.batch.BatchEnv", "envs.gymnasium.VectorEnv"),
    "games": (
        "envs.api.Game",
        "envs.api.TextGame",
        "envs.api.Replayable",
        "io.config.Config",
        "envs.seen.SeatView",
        "games.collab_overcooked.env.CollabOvercooked",
    ),
    "languages": ("envs.lexicon.load_lexicon", "envs.lexicon.Lexicon", "envs.lexicon.TranslatedGame"),
    "policies": (
        *(f"policies.api.{name}" for name in ("Policy", "Seen", "Decision", "Message", "EnvInfo")),
        *(f"policies.api.{name}" for name in ("Learner", "Lesson", "Teacher")),
        "policies.registry.make_policy",
        "policies.registry.register_policy",
        "policies.export.export_policy",
        "runner.teaching.make_teaching",
    ),
    "search": ("policies.search.simulator.Simulator", "policies.search.simulator.Fork"),
    "evaluation": (
        "evaluation.suites.Suite",
        "runner.jobs.Job",
        "runner.workers.Workers",
        "evaluation.run.evaluate",
        "evaluation.run.Episodes",
        "evaluation.crossplay.cross_play",
        "evaluation.compare.run.compare",
        "runner.episode.play_episode",
        "runner.series.play_series",
        "runner.episode.episode",
        "runner.episode.Limits",
        "runner.teams.make_team",
        "games.collab_overcooked.suite.scoring.score_record",
        "games.collab_overcooked.suite.scoring.score_records",
    ),
    "metrics": (
        *(f"metrics.registry.{name}" for name in ("Metric", "MetricSet", "register_metric")),
        *(f"metrics.{name}" for name in ("tes", "ites", "rouge_l")),
        "games.collab_overcooked.suite.metrics.collaboration.collaboration",
        "games.collab_overcooked.suite.metrics.collaboration.CollaborationOptions",
        *(
            f"games.collab_overcooked.suite.metrics.scores.{name}"
            for name in ("score_run", "score_runs", "score_level")
        ),
        *(f"games.rush.suite.metrics.{name}" for name in ("score_round", "score_rounds", "termination")),
        *(f"metrics.{name}" for name in ("mean_of_shares", "mean_of_ratios")),
        "games.collab_overcooked.suite.metrics.original_logs.read_original_log",
        "games.collab_overcooked.suite.metrics.original_logs.apply_time_limit",
    ),
    "tables": ("reporting.result_table.ResultTable", "reporting.result_table.Column"),
    "conformance": ("testing.check_game",),
}
"""Sections of the API page, and what each describes, below ``collab_overcooked``."""
WITHOUT_MEMBERS = ("CollabOvercooked",)
ONLY_MEMBERS = {
    "VectorEnv": ("reset", "step"),
    "TranslatedGame": ("say",),
}


def reference(names: Iterable[str]) -> str:
    """Return a section of the API page."""
    return "\n\n".join(_entry(name) for name in names)


def _entry(name: str) -> str:
    module, _, attribute = name.rpartition(".")
    described = getattr(importlib.import_module(f"collab_overcooked.{module}"), attribute)
    kind = "class " if inspect.isclass(described) else ""
    parts = [f"### {attribute}", _signature(f"{kind}collab_overcooked.{name}", described), _docstring(described)]
    if inspect.isclass(described) and attribute not in WITHOUT_MEMBERS:
        for member, value in vars(described).items():
            chosen = ONLY_MEMBERS.get(attribute)
            if member.startswith("_") or (chosen is not None and member not in chosen):
                continue
            parts += _member(attribute, member, value)
    return "\n\n".join(part for part in parts if part)


def _member(owner: str, name: str, value: Any) -> list[str]:
    """Return heading, signature and docstring of a method or property; nothing for plain attributes."""
    found = getattr(value, "__func__", getattr(value, "fget", getattr(value, "func", value)))
    if not inspect.isfunction(found) or not found.__doc__:
        return []
    head = f"**`{owner}.{name}`**"
    return [head, _docstring(found)] if found is not value else [head, _signature(name, found), _docstring(found)]


def _signature(name: str, described: Any) -> str:
    """Return a call with its parameters and their defaults, one a line where they are many."""
    try:
        parameters = list(inspect.signature(described).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    if getattr(described, "_is_protocol", False):
        parameters = []
    words, starred = [], False
    for parameter in parameters:
        if parameter.name == "self":
            continue
        starred = starred or parameter.kind is parameter.VAR_POSITIONAL
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            words, starred = [*words, "*"], True
        words.append(_parameter(parameter))
    line = f"{name}({', '.join(words)})" if words or inspect.isfunction(described) else name
    if len(line) > 100:
        line = f"{name}(\n" + "".join(f"    {word},\n" for word in words) + ")"
    return f"```text\n{line}\n```"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    if parameter.default is parameter.empty:
        return f"{stars}{parameter.name}"
    default = parameter.default
    if callable(default) or dataclasses.is_dataclass(default) or " at 0x" in repr(default):
        return f"{parameter.name}=..."
    return f"{parameter.name}={default!r}"


def _docstring(described: Any) -> str:
    """Return a Google docstring as Markdown: its sections as lists."""
    lines: list[str] = []
    for line in (inspect.getdoc(described) or "").split("\n"):
        entry = ENTRY.fullmatch(line)
        if line.removesuffix(":") in SECTIONS and line.endswith(":"):
            lines += [f"*{line}*", ""]
        elif entry:
            lines.append(f"- `{entry[1]}`: {entry[2]}")
        else:
            lines.append(line.removeprefix("    ") if line.startswith("    ") else line)
    return plain("\n".join(lines)).strip()


def reset_options() -> str:
    """List the options of each game's ``reset``."""
    rows = [
        (code(name), ", ".join(code(option) for option in registry.load_game(name).reset_forms()))
        for name in registry.registered()
    ]
    return table(("game", "options of `reset`"), rows)


def _maker(prefix: str, name: str, make: Callable[[], str]) -> Callable[[], str]:
    make.__name__ = f"{prefix}_{name}"
    return make


def script(name: str) -> str:
    """Return a script for another trainer as a fenced block."""
    source = (DOCS / "trainers" / f"{name}.py").read_text(encoding="utf-8").rstrip()
    return f"<!-- not run: needs an environment of its own -->\n```python\n{source}\n```"


SCRIPTS = tuple(sorted(path.stem for path in (DOCS / "trainers").glob("*.py")))
FACTS = (
    reset_options,
    *(_maker("api", name, lambda names=names: reference(names)) for name, names in PAGE.items()),
    *(_maker("script", name, lambda name=name: script(name)) for name in SCRIPTS),
)
