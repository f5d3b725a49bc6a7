"""Options of commands as fields of frozen dataclasses: parsing, and options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import Field, asdict, dataclass, field, fields, make_dataclass
from functools import partial
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from cyclopts import Parameter, Token

from collab_overcooked.cli.app import read_numbers
from collab_overcooked.core.limits import Limits
from collab_overcooked.io.checks import check_distinct, near_matches
from collab_overcooked.io.options import NAMES, NUMBERS, PAIRS, SEATS, is_set, option, read_names

T = TypeVar("T")


def _split(metavar: str, kind: Any, tokens: Sequence[Token]) -> list[str]:
    # Values of NAME=VALUE and settings of a policy may contain commas themselves: `mcts:depth=4,width=2`.
    splits = {NAMES: r",(?![\w.-]+=)", SEATS: r",(?=\s*(?:agent_\d+|all)=)"}.get(metavar, r"(?!)")
    parts = [part.strip() for token in tokens for part in re.split(splits, token.value)]
    return [part for part in parts if part] or parts


def _join(kind: Any, tokens: Sequence[Token]) -> str:
    return ",".join(token.value.strip(",") for token in tokens) if len(tokens) > 1 else tokens[0].value


def _read_tuple(name: str, item: Any, distinct: bool, kind: Any, tokens: Sequence[Token]) -> tuple[Any, ...]:
    text = _join(kind, tokens)
    values = read_names(name, text) if item is str else read_numbers(name, text, item)
    if distinct and item is not str:  # names are checked as they are read
        check_distinct(name, values)
    return tuple(values)


def read_allowed(name: str, allowed: Sequence[str], kind: Any, tokens: Sequence[Token]) -> str:
    """Read the value of an option, which must be an allowed one.

    Raises:
        ValueError: It is not.
    """
    if tokens[0].value not in allowed:
        raise ValueError(near_matches(name, tokens[0].value, allowed))
    return tokens[0].value


def several(help: str, metavar: str = NAMES, name: str | None = None) -> Parameter:
    """Return an option that takes several texts, separated by spaces, or by commas if texts cannot contain any."""
    return Parameter(
        name=name,
        negative=(),
        help=help,
        metavar=metavar,
        consume_multiple=True,
        allow_repeating=True,
        converter=partial(_split, metavar),
    )


FLAG = Parameter(show_default=False, negative=())
Settings = Annotated[list[str] | None, several("Environment options.", PAIRS, "--set")]


def as_options(kind: type[T], only: Container[str] | None = None) -> type[T]:
    """Return a dataclass whose fields are options of a command.

    Args:
        kind: Frozen dataclass with fields created by ``io.options.option``.
        only: Names of the fields that become options. Default: all.
    """
    hints = get_type_hints(kind)
    read: list[Any] = []
    for item in fields(kind):  # type: ignore[arg-type]
        is_option = only is None or item.name in only
        hint = _annotation(item, hints[item.name]) if is_option else Annotated[hints[item.name], Parameter(parse=False)]
        read.append((item.name, hint, field(default=item.default, metadata=item.metadata)))
    space = {"__module__": __name__}
    group = make_dataclass(kind.__name__, read, bases=(kind,), namespace=space, frozen=True, kw_only=True)
    return Parameter(name="*", parse=bool(read))(group)


def _annotation(declared: Field[Any], hint: Any) -> Any:
    name, default, metadata = declared.name, declared.default, declared.metadata
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    item = next((get_args(kind)[0] for kind in kinds if get_origin(kind) is tuple), None)
    metavar = metadata["metavar"] or None
    reader: Callable[[Any, Sequence[Token]], Any] | None = None
    if item is not None:
        metavar = metavar or (NAMES if item is str else NUMBERS)
        reader = partial(_read_tuple, name, item, is_set(hint))
    elif any(get_origin(kind) is list for kind in kinds):
        metavar = metavar or NAMES
        reader = partial(_split, metavar)
    elif metavar is not None and metavar.endswith("..."):
        reader = _join
    elif metadata["allowed"]:
        reader = partial(read_allowed, name, metadata["allowed"])
    switch, _, negative = (metadata["flag"] or "--" + name.replace("_", "-")).partition("/")
    several_values = metavar is not None and metavar.endswith("...")
    parameter = Parameter(
        name=switch,
        negative=negative or (f"--no-{switch.removeprefix('--')}" if default is True else ()),
        metavar=metavar,
        consume_multiple=several_values,
        allow_repeating=several_values,
        n_tokens=-1 if several_values else None,
        converter=reader,
        show_default=",".join(map(str, default))
        if isinstance(default, tuple)
        else default is not False and default not in (None, ""),
    )
    # Tuples may be shorter than annotated: ``rooms=2`` means (2, 2).
    return Annotated[hint if item is None else tuple[item, ...] | None, parameter]  # type: ignore[valid-type]


def refuse_changes(options: Any, allowed: Any, reason: str) -> None:
    """Reject options with values other than the allowed ones, because they would be ignored."""
    for item in fields(options):
        if vars(options)[item.name] != vars(allowed)[item.name]:
            switch = item.metadata["flag"] or "--" + item.name.replace("_", "-")
            raise ValueError(f"option {switch} {reason}")


def merge_options(name: str, kinds: Sequence[type], only: Container[str] | None = None) -> type:
    """Return a dataclass with the options of several kinds, for a command that reads values of all of them.

    An option that is not given is None, which stands for the default of its kind; options of one name are one.

    Args:
        name: Name of the dataclass.
        kinds: Dataclasses with fields created by ``io.options.option``.
        only: Names of the fields that become options. Default: all.
    """
    declared: dict[str, Any] = {}
    for kind in kinds:
        hints = get_type_hints(kind)
        for item in fields(kind):
            standard = "" if item.default is None else f" Default: {item.default}."
            metadata = {**item.metadata, "help": item.metadata["help"] + standard}
            declared[item.name] = (item.name, hints[item.name] | None, option(None, **metadata))
    return as_options(make_dataclass(name, declared.values(), frozen=True, kw_only=True), only)


def given_values(options: Any) -> dict[str, Any]:
    """Return the values of merged options that were given, by name."""
    return {name: value for name, value in asdict(options).items() if value is not None}


BUDGET_HELP = "Budget per episode: calls=200,tokens=100000,seconds=600,dollars=0.5."


@as_options
@dataclass(frozen=True, kw_only=True)
class LimitOptions(Limits):
    """Limits of conversations and corrections."""


@as_options
@dataclass(frozen=True, kw_only=True)
class LlmOptions:
    """Options of language models: endpoint, store, budget and prices."""

    base_url: str | None = option(None, "Base URL of the OpenAI-compatible endpoint for llm policies.")
    local: Path | None = option(None, "GGUF model file to run llm policies in this process.")
    local_threads: int | None = option(None, "CPU threads for --local. Default: all.")
    store: Path | None = option(None, "File that stores every exchange; identical requests are answered from it.")
    replay: Path | None = option(None, "Take all responses from a file written by --store; send no requests.")
    budget: str = option("", BUDGET_HELP, metavar=PAIRS)
    budget_total: str = option("", "Total budget for the run, such as dollars=5 or calls=1000.", metavar=PAIRS)
    max_unusable: int | None = option(
        None, "Unusable answers of a model in a row that end the run; 0 never ends it. Default: 12."
    )
    price: str = option(
        "", "Dollars per million tokens, input/output, optionally /cached: 2.5/10, 2.5/10/1.25, model=2.5/10."
    )
    rate: float | None = option(None, "Maximum requests per minute.")
    timeout: float | None = option(None, "Timeout of a request in seconds. Default: 120; 1800 with --local.")
    give_up: float | None = option(
        None,
        "Seconds after the first failure of a request until it is given up, and the longest pause that an endpoint may "
        "ask for. Default: 60.",
    )
    key_variable: str | None = option(None, "Environment variable with the API key. Default: OPENAI_API_KEY.")


@as_options
@dataclass(frozen=True, kw_only=True)
class RunLlmOptions(LlmOptions):
    """Options of language models in commands with a dry run."""

    dry_run: bool = option(
        False, "Print the number of episodes and an estimate of the costs of a run, and send no request."
    )


@as_options
@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """Options of printed tables."""

    more: bool = option(False, "Also show efficiency, redundancy and ROUGE-L.")
    by_task: bool = option(False, "Show one row per task instead of one per level.")
