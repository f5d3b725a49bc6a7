"""Groups of options that several commands take, and commands made from the fields of such dataclasses."""

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
from collab_overcooked.io.options import NAMES, PAIRS, SEATS, make_options, option, read_names

BUDGET_HELP = "Per episode: calls=200,tokens=100000,seconds=600,dollars=0.5."


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """Bounds of conversations and corrections."""

    max_turns: int = option(6, "Messages in one conversation.")
    max_corrections: int = option(1, "How often a refused action is handed back.")


@dataclass(frozen=True, kw_only=True)
class LlmOptions:
    """How language models are reached, and what they may cost."""

    base_url: str | None = option(None, "OpenAI-compatible endpoint of the llm policies.")
    local: Path | None = option(None, "GGUF file that plays the llm policies in this process.")
    local_threads: int | None = option(None, "Processor threads of --local; all if not given.")
    store: Path | None = option(None, "Keep every exchange with a model in this file, and ask nothing twice.")
    replay: Path | None = option(None, "Take all answers from such a file; no endpoint is asked.")
    budget: str = option("", BUDGET_HELP, metavar=PAIRS)
    budget_total: str = option("", "Total budget of the run, in the same syntax as --budget.", metavar=PAIRS)
    price: str = option("", "Dollars per million tokens in, out and cached: 2.5/10, 2.5/10/1.25, model=2.5/10,...")
    rate: float | None = option(None, "Requests to the endpoint per minute.")
    timeout: float | None = option(None, "Seconds for one attempt at a request (120; 1800 with --local).")
    key_variable: str | None = option(None, "Environment variable with the endpoint's key (OPENAI_API_KEY).")
    dry_run: bool = option(False, "Only say how many questions, tokens and dollars the run would take.")


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """How much of the tables is printed."""

    more: bool = option(False, "Show efficiency, redundancy and ROUGE-L too.")
    by_task: bool = option(False, "Show a row per task instead of one per level.")


class MultiValueCommand(TyperCommand):
    """A command whose list options take several values, separated by spaces or commas: ``--team a=x b=y``.

    List options are those that may be repeated, and those with ``...`` at the end of their metavar. Words after one of
    them belong to it, unless they are options or the command still lacks a positional argument.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Rewrite the values of list options in the form that click reads, then parse as usual."""
        options = {name: own for own in self.params if own.param_type_name == "option" for name in own.opts}
        required = sum(own.param_type_name == "argument" and own.required for own in self.params)
        is_free = any(own.param_type_name == "argument" for own in self.params)
        rest, given = list(args), 0  # words not read yet; number of positional arguments
        words: list[str] = []
        while rest:
            word = rest.pop(0)
            words.append(word)
            option = options.get(word.partition("=")[0])
            if option is None or getattr(option, "is_flag", False):
                given += not word.startswith("-")
                continue
            values = [words.pop().partition("=")[2]] if "=" in word else rest[:1]
            rest = rest if "=" in word else rest[1:]
            flag = word.partition("=")[0]
            form = _list_form(option)
            while form and rest and given >= required and _belongs(rest[0], form):
                values.append(rest.pop(0))
            if not form and not is_free and rest and not rest[0].startswith("-"):
                raise UsageError(f"{flag} takes one value, got {' '.join([*values, rest[0]])!r}", ctx)
            words = words if "=" in word else words[:-1]
            words += _spell(flag, values, form, getattr(option, "multiple", False))
        return super().parse_args(ctx, words)


def _list_form(option: Any) -> str:
    """Return the metavar of an option that takes several values, "" for others."""
    if option.metavar and option.metavar.endswith("..."):
        return str(option.metavar)
    return NAMES if getattr(option, "multiple", False) else ""


def _belongs(word: str, form: str) -> bool:
    """Tell whether a word can be a further value of a list option."""
    return not word.startswith("-") and (form == NAMES or "=" in word)


def _spell(flag: str, values: list[str], form: str, repeats: bool) -> list[str]:
    """Write the values of an option as click reads them: the option repeated, or one text with commas."""
    if not repeats:
        return [flag, ",".join(value.strip(",") for value in values)] if form and len(values) > 1 else [flag, *values]
    # Values of NAME=VALUE may hold commas of their own, and so may the settings of a policy: `mcts:depth=4,width=2`.
    splits = {NAMES: r",(?![\w.-]+=)", SEATS: r",(?=\s*(?:agent_\d+|all)=)"}.get(form, r"(?!)")
    parts = [part.strip() for value in values for part in re.split(splits, value)]
    return [word for part in parts if part or len(parts) == 1 for word in (flag, part)]


def expand_options(
    function: Callable[..., None], groups: Mapping[str, type], only: Mapping[str, Sequence[str]] | None = None
) -> Callable[..., None]:
    """Return a command function whose options are the fields of dataclasses.

    Args:
        function: Takes an instance of each dataclass, and further parameters that typer reads itself.
        groups: Frozen dataclass by the name of the parameter that takes an instance; fields are made by
            ``io.options.option``.
        only: Names of the fields that are options, by group; all if a group is not named.
    """
    own = [one for one in inspect.signature(function, eval_str=True).parameters.values() if one.name not in groups]
    chosen = {
        group: [one for one in fields(kind) if only is None or group not in only or one.name in only[group]]
        for group, kind in groups.items()
    }
    hints = {group: get_type_hints(kind) for group, kind in groups.items()}

    def command(**given: Any) -> None:
        made: dict[str, Any] = {one.name: given[one.name] for one in own}
        for group, kind in groups.items():
            values = {one.name: given[f"{group}__{one.name}"] for one in chosen[group]}
            read = {name: _read_value(name, value, hints[group][name]) for name, value in values.items()}
            made[group] = make_options(kind, read)
        function(**made)

    parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
    for group, found in chosen.items():
        parameters += [_parameter(group, one, hints[group][one.name]) for one in found]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    command.__doc__ = function.__doc__
    return command


def _parameter(group: str, own: Field[Any], hint: Any) -> inspect.Parameter:
    """Return the parameter that typer makes an option of; tuples are written with commas between their values."""
    default, item = own.default, _item_type(hint)
    metavar = own.metadata["metavar"] or (NAMES if item is not None else None)
    if item is not None:
        hint = str | None
        default = None if default is None else ",".join(map(str, default))  # type: ignore[arg-type]
    flag = own.metadata["flag"] or "--" + own.name.replace("_", "-")
    if get_origin(hint) is Literal:
        hint = str
    if hint is bool and default is True and "/" not in flag:
        flag = f"{flag}/--no-{flag.removeprefix('--')}"
    annotation = Annotated[hint, typer.Option(*flag.split(), help=own.metadata["help"], metavar=metavar)]
    return inspect.Parameter(
        f"{group}__{own.name}", inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _item_type(hint: Any) -> Any:
    """Return the type of a tuple's values, for ``tuple[X, ...]`` and ``tuple[X, ...] | None``; None for other types."""
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    return next((get_args(kind)[0] for kind in kinds if get_origin(kind) is tuple), None)


def _read_value(name: str, value: Any, hint: Any) -> Any:
    item = _item_type(hint)
    if item is None or value is None:
        return value
    if item is not str:
        return tuple(read_numbers(name, value, item) or ())
    return tuple(read_names(name, value))
