"""Commands that inspect the package: ``list`` and ``describe``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from collab_overcooked import registry
from collab_overcooked.cli.app import OUT, read_settings
from collab_overcooked.cli.options import Settings
from collab_overcooked.cli.questions import describe_item
from collab_overcooked.io.checks import near_matches

if TYPE_CHECKING:
    from gymnasium import Space

    from collab_overcooked.evaluation.suites import Listing
    from collab_overcooked.metrics.registry import Metric

MAX_NAME = 40  # characters of a name beside its summary


def list_names(
    what: Annotated[
        str | None,
        Parameter(
            help="envs, suites, policies, configs, teachers, lexicons, metrics; tasks, kitchens, levels, layouts or "
            "scenarios. Default: what can be listed."
        ),
    ] = None,
    /,
    *,
    suite: Annotated[
        str | None, Parameter(help="Suite of the tasks, levels, ... Default: all suites that have them.")
    ] = None,
    settings: Settings = None,
) -> None:
    """List environments, policies, metrics, tasks, layouts and other names."""
    listings: dict[str, Callable[[], list[tuple[str, str]]]] = {
        "envs": lambda: [(record.id, record.summary) for record in registry.games()],
        "suites": lambda: [(name, record.summary) for name, record in registry.suites().items()],
        "policies": list_policies,
        "configs": list_configs,
        "lexicons": list_lexicons,
        "teachers": list_teachers,
        "metrics": list_metrics,
    }
    of_suites: dict[str, dict[str, Listing]] = {}
    for name in list(registry.suites()) if suite is None else [suite]:
        for plural, listing in registry.load_suite(name).listed.items():
            of_suites.setdefault(plural, {})[name] = listing
    known = list(dict.fromkeys([*listings, *of_suites]))
    options = read_settings(settings)
    if what is None:
        refuse_game_options({"--set": options}, of_suites)
        OUT.print("\n".join(known))
        return
    if what not in known:
        raise ValueError(near_matches("listing", what, known))
    if what not in of_suites:
        refuse_game_options({"--set": options, "--suite": suite}, of_suites, f", not for {what}")
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}  # suites by their rows, which several may share
    for name in of_suites.get(what, {}):
        check_settings(name, options)
    for name, listing in of_suites.get(what, {}).items():
        rows = tuple((entry, listing.summary(entry, options)) for entry in listing.names(options))
        groups.setdefault(rows, []).append(name)
    for rows, suites in (groups or {tuple(listings[what]()): []}).items():
        if len(groups) > 1:
            OUT.print(f"{', '.join(suites)}:")
        OUT.print(listing_text(rows))


def listing_text(rows: Sequence[tuple[str, str]]) -> str:
    """Return names and summaries in two columns; a long name has a line of its own."""
    width = max((len(name) for name, _ in rows if len(name) <= MAX_NAME), default=0)
    lines = []
    for name, summary in rows:
        if len(name) > MAX_NAME:
            lines.append(name)
            name = ""
        lines.append(f"{name:<{width}}  {summary}".rstrip())
    return "\n".join(lines)


def refuse_game_options(given: Mapping[str, Any], listings: Iterable[str], what: str = "") -> None:
    """Reject options of games, by flag, that a listing of other names would ignore.

    Raises:
        ValueError: An option has a value.
    """
    for flag, value in given.items():
        if value:
            raise ValueError(f"{flag} is for names that a game has, such as {', '.join(listings)}{what}")


def check_settings(suite: str, options: Mapping[str, Any]) -> None:
    """Check environment options of a suite, even if the output does not depend on them.

    Raises:
        ValueError: For an unknown option or a value that is not allowed.
    """
    env_id = registry.load_suite(suite).env_id
    if options and not env_id:
        raise ValueError(f"--set: the suite {suite} has several games; name one of its tasks, or --suite of one game")
    if options:
        registry.read_options(env_id, options)


def list_policies() -> list[tuple[str, str]]:
    """Return usage and summary of every policy."""
    from collab_overcooked.policies.registry import policy_records

    return [(record.usage, record.summary) for record in policy_records()]


def list_configs() -> list[tuple[str, str]]:
    """Return name, algorithm, environment and steps of the built-in configurations of trainings."""
    from collab_overcooked.baselines.settings import algorithm_of, read_config, shipped_configs

    rows = []
    for name in shipped_configs():
        values = read_config(name)
        rows.append((name, f"{algorithm_of(name)}, {values['env']}, {values['steps']:,} steps"))
    return rows


def list_metrics() -> list[tuple[str, str]]:
    """Return name and meaning of the metrics of every game, of single games, and of custom metrics."""
    from collab_overcooked.metrics.registry import ANY_GAME, custom_metrics, game_metrics

    def line(metric: Metric, game: str) -> tuple[str, str]:
        facts = [metric.unit, f"{metric.better} is better" if metric.better else "", game]
        return metric.name, f"{metric.meaning} ({'; '.join(filter(None, facts))})"

    suites = registry.first_suites()
    of_games = [line(metric, ids[0]) for ids in suites.values() for metric in game_metrics(ids[0]).metrics]
    custom = [
        line(metric, ", ".join(group.games) or "every game")
        for name, group in custom_metrics().items()
        for metric in group.metrics
        if metric.name == name
    ]
    return [*(line(metric, "every game") for metric in ANY_GAME.metrics), *of_games, *custom]


def list_lexicons() -> list[tuple[str, str]]:
    """Return name and description of the built-in lexicons."""
    from collab_overcooked.envs.lexicon import lexicons, load_lexicon

    return [(name, load_lexicon(name).description) for name in lexicons()]


def list_teachers() -> list[tuple[str, str]]:
    """Return the teachers that may give feedback between the episodes of a run."""
    from collab_overcooked.runner.teaching import MODES, teachers

    return [(mode, summary) for mode, summary in MODES.items()] + [
        (f"{mode}:{name}", summary) for name, (*_, summary) in teachers().items() for mode in MODES if mode != "none"
    ]


def describe(
    name: Annotated[str, Parameter(help="Environment id, suite, task, kitchen, level, layout, scenario or question.")],
    /,
    *,
    settings: Settings = None,
    file: Annotated[Path | None, Parameter(help="Question set of a question. Default: the built-in one.")] = None,
    picture: Annotated[Path | None, Parameter(help="Also write a PNG of the scene of a question.")] = None,
) -> None:
    """Describe an environment, suite, task (recipe, references), kitchen (picture, seats), level, question, ..."""
    if file is not None or picture is not None or _is_question(name):
        from collab_overcooked.questions.sets import read_set

        if settings:
            raise ValueError(f"--set is for names that a game has, not for questions such as {name}")
        describe_item(read_set(file).find(name), picture)
        return
    suites = [registry.load_suite(name) for name in registry.suites()]
    options = read_settings(settings)
    if name.removeprefix(f"{registry.NAMESPACE}/") in registry.registered():
        OUT.print(describe_env(name, options))
        return
    if Path(name).suffix in (".yaml", ".yml", ".layout"):
        OUT.print(describe_file(name, options))
        return
    for suite in suites:
        if options and any(name in listing.names({}) for listing in suite.listed.values()):
            check_settings(suite.name, options)
        text = suite.describe(name, options)
        if text is not None:
            check_settings(suite.name, options)  # of a name that no listing has
            OUT.print(text)
            return
    if name in registry.suites():
        suite = registry.load_suite(name)
        check_settings(name, options)
        OUT.print(f"{name}: {registry.suites()[name].summary}")
        OUT.print(f"\n{describe_env(suite.env_id, options)}" if suite.env_id else "A suite of several games.")
        return
    described = [pair for suite in suites for pair in suite.listed.items() if pair[1].describe is not None]
    kinds = dict.fromkeys(plural.removesuffix("s") for plural, _ in described)
    known = [
        *registry.registered(),
        *registry.suites(),
        *(entry for _, listing in described for entry in listing.names(options)),
    ]
    raise ValueError(
        near_matches(" or ".join([", ".join(["environment", *list(kinds)[:-1]]), list(kinds)[-1]]), name, known)
    )


def _is_question(name: str) -> bool:
    if not name.endswith(("-fact", "-partner", "-own")):
        return False
    from collab_overcooked.questions.sets import read_set

    return any(item.id == name for item in read_set(None).items)


def describe_file(path: str, options: Mapping[str, Any]) -> str:
    """Return the description of a user's file by the suite of the game that reads it, or the result of its check."""
    from collab_overcooked.cli.documents import recognise  # loads the files of every game
    from collab_overcooked.io.documents import DocumentError

    kind = recognise(path)
    refusals = []
    for record in registry.games():
        if kind not in map(registry.load_entry, record.documents):
            continue
        suite = registry.load_suite(next(iter(record.suites)))
        try:
            text = suite.describe(path, options)
        except DocumentError as refusal:  # another game may share the kind of file
            refusals.append(refusal)
            continue
        if text:
            check_settings(suite.name, options)
            return str(text)
    if refusals:
        raise refusals[0]
    if options:
        raise ValueError(f"--set is for files that a game describes, not for a {kind.name} such as {path}")
    return kind.check([path], kind.options()).text


def space_text(space: Space[Any]) -> str:
    """Return a space on one line; bounds of a box that differ by element are shown as their range."""
    from gymnasium.spaces import Box

    if not isinstance(space, Box):
        return " ".join(str(space).split())
    return f"Box({space.low.min():g}..{space.high.max():g}, {space.shape}, {space.dtype})"


def describe_env(env_id: str, chosen: Mapping[str, Any]) -> str:
    """Return summary, spaces with the chosen options, and all options of an environment as text."""
    import inspect
    from dataclasses import fields

    from collab_overcooked.envs.channel import ChannelConfig

    record, game = registry.find(env_id), registry.load_game(env_id, **chosen)
    maker = registry.game_class(env_id)
    lines = [
        f"{record.id}: {record.summary}",
        f"agents: {game.n_agents}; actions: {game.single_action_space}; longest episode: {game.max_cycles}",
        f"observation: {space_text(game.single_observation_space)}",
        "",
        inspect.getdoc(maker) or "",
        "",
        "Options:",
        *(
            f"    {field.name}: {field.metadata['help']} (default {field.default!r})"
            for field in fields(maker.config_class)
        ),
        "",
        "Every game also takes a channel:",
        *(f"    {field.name}: {field.metadata['help']} (default {field.default!r})" for field in fields(ChannelConfig)),
        "",
        f"Every game also takes `{registry.LEXICON}`: a built-in lexicon or a YAML file with the names that it uses.",
    ]
    return "\n".join(lines)
