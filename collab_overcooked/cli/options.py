"""Option groups shared by several commands, and commands built from the fields of their dataclasses."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, fields
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand

from collab_overcooked.cli.app import UsageError, read_numbers
from collab_overcooked.io.options import NAMES, NUMBERS, PAIRS, SEATS, make_options, option, read_names

BUDGET_HELP = "Budget per episode: calls=200,tokens=100000,seconds=600,dollars=0.5."


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """Limits of conversations and corrections."""

    max_messages: int = option(6, "Maximum number of messages in a conversation.")
    max_corrections: int = option(1, "Maximum number of corrections of an invalid action.")


@dataclass(frozen=True, kw_only=True)
class LlmOptions:
    """Options of language models: endpoint, store, budget and prices."""

    base_url: str | None = option(None, "Base URL of the OpenAI-compatible endpoint for llm policies.")
    local: Path | None = option(None, "GGUF model file to run llm policies in this process.")
    local_threads: int | None = option(None, "CPU threads for --local. Default: all.")
    store: Path | None = option(None, "File that stores every exchange; identical requests are answered from it.")
    replay: Path | None = option(None, "Take all responses from a file written by --store; send no requests.")
    budget: str = option("", BUDGET_HELP, metavar=PAIRS)
    budget_total: str = option("", "Total budget for the run, in the same syntax as --budget.", metavar=PAIRS)
    max_unusable: int | None = option(
        None, "Unusable answers of a model in a row that end the run; 0 never ends it. Default: 12."
    )
    price: str = option(
        "", "Dollars per million tokens, input/output, optionally /cached: 2.5/10, 2.5/10/1.25, model=2.5/10."
    )
    rate: float | None = option(None, "Maximum requests per minute.")
    timeout: float | None = option(None, "Timeout of a request in seconds. Default: 120; 1800 with --local.")
    key_variable: str | None = option(None, "Environment variable with the API key. Default: OPENAI_API_KEY.")


@dataclass(frozen=True, kw_only=True)
class RunLlmOptions(LlmOptions):
    """Options of language models in commands with a dry run."""

    dry_run: bool = option(False, "Print the number of episodes and upper bounds of a run, and send no request.")


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """Options of printed tables."""

    more: bool = option(False, "Also show efficiency, redundancy and ROUGE-L.")
    by_task: bool = option(False, "Show one row per task instead of one per level.")


class MultiValueCommand(TyperCommand):
    """Command whose list options take several values, separated by spaces or commas: ``--team a=x b=y``.

    List options are options that may be repeated, and options whose metavar ends in ``...``. The arguments after a
    list option belong to it, unless they are options or a required positional argument is still missing.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Rewrite the values of list options to the form that click reads, then parse."""
        options = {
            name: parameter
            for parameter in self.params
            if parameter.param_type_name == "option"
            for name in parameter.opts
        }
        required = sum(parameter.param_type_name == "argument" and parameter.required for parameter in self.params)
        is_free = any(parameter.param_type_name == "argument" for parameter in self.params)
        rest, positionals = list(args), 0  # arguments not parsed yet; number of positional arguments
        expanded: list[str] = []
        while rest:
            word = rest.pop(0)
            expanded.append(word)
            option = options.get(word.partition("=")[0])
            if option is None or getattr(option, "is_flag", False):
                positionals += not word.startswith("-")
                continue
            values = [expanded.pop().partition("=")[2]] if "=" in word else rest[:1]
            rest = rest if "=" in word else rest[1:]
            name = word.partition("=")[0]
            form = _list_form(option)
            while form and rest and positionals >= required and _belongs(rest[0], form):
                values.append(rest.pop(0))
            if not form and not is_free and rest and not rest[0].startswith("-"):
                raise UsageError(f"{name} takes one value, got {' '.join([*values, rest[0]])!r}", ctx)
            expanded = expanded if "=" in word else expanded[:-1]
            expanded += _spell(name, values, form, getattr(option, "multiple", False))
        return super().parse_args(ctx, expanded)


def _list_form(option: Any) -> str:
    if option.metavar and option.metavar.endswith("..."):
        return str(option.metavar)
    return NAMES if getattr(option, "multiple", False) else ""


def _belongs(word: str, form: str) -> bool:
    return not word.startswith("-") and (form in (NAMES, NUMBERS) or "=" in word)


def _spell(name: str, values: list[str], form: str, repeats: bool) -> list[str]:
    if not repeats:
        return [name, ",".join(value.strip(",") for value in values)] if form and len(values) > 1 else [name, *values]
    # Values of NAME=VALUE and settings of a policy may contain commas themselves: `mcts:depth=4,width=2`.
    splits = {NAMES: r",(?![\w.-]+=)", SEATS: r",(?=\s*(?:agent_\d+|all)=)"}.get(form, r"(?!)")
    parts = [part.strip() for value in values for part in re.split(splits, value)]
    return [word for part in parts if part or len(parts) == 1 for word in (name, part)]


def expand_options(
    function: Callable[..., None], groups: Mapping[str, type], only: Mapping[str, Sequence[str]] | None = None
) -> Callable[..., None]:
    """Return a command function whose options are the fields of dataclasses.

    Args:
        function: Takes an instance of each dataclass, and further parameters that typer parses itself.
        groups: Parameter name -> frozen dataclass with fields created by ``io.options.option``.
        only: Group -> names of the fields that become options; groups that are missing here have all fields.
    """
    direct = [
        field for field in inspect.signature(function, eval_str=True).parameters.values() if field.name not in groups
    ]
    chosen = {
        group: [field for field in fields(kind) if only is None or group not in only or field.name in only[group]]
        for group, kind in groups.items()
    }
    hints = {group: get_type_hints(kind) for group, kind in groups.items()}

    def command(**parsed: Any) -> None:
        arguments: dict[str, Any] = {field.name: parsed[field.name] for field in direct}
        for group, kind in groups.items():
            values = {field.name: parsed[f"{group}__{field.name}"] for field in chosen[group]}
            read = {name: _read_value(name, value, hints[group][name]) for name, value in values.items()}
            arguments[group] = make_options(kind, read)
        function(**arguments)

    parameters = [field.replace(kind=inspect.Parameter.KEYWORD_ONLY) for field in direct]
    for group, group_fields in chosen.items():
        parameters += [_parameter(group, field, hints[group][field.name]) for field in group_fields]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {field.name: field.annotation for field in parameters}
    command.__doc__ = function.__doc__
    return command


def _parameter(group: str, field: Field[Any], hint: Any) -> inspect.Parameter:
    default, item = field.default, _item_type(hint)
    metavar = field.metadata["metavar"] or {None: None, str: NAMES}.get(item, NUMBERS)
    if item is not None:
        hint = str | None
        default = None if default is None else ",".join(map(str, default))  # type: ignore[arg-type]
    flags = field.metadata["flag"] or "--" + field.name.replace("_", "-")
    if get_origin(hint) is Literal:
        hint = str
    if hint is bool and default is True and "/" not in flags:
        flags = f"{flags}/--no-{flags.removeprefix('--')}"
    annotation = Annotated[hint, typer.Option(*flags.split(), help=field.metadata["help"], metavar=metavar)]
    return inspect.Parameter(
        f"{group}__{field.name}", inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _item_type(hint: Any) -> Any:
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    return next((get_args(kind)[0] for kind in kinds if get_origin(kind) is tuple), None)


def _read_value(name: str, value: Any, hint: Any) -> Any:
    item = _item_type(hint)
    if item is None or value is None:
        return value
    if item is not str:
        return tuple(read_numbers(name, value, item) or ())
    return tuple(read_names(name, value))
