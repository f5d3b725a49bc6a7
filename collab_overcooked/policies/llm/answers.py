"""Parsing of models' answers. Answers are treated as text only and never executed."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.io.redaction import redact_values
from collab_overcooked.io.text import harmless_values
from collab_overcooked.policies.llm.markup import MAX_READ, visible

MAX_SAY = 1_000  # characters of a message to teammates
MAX_PLAN = 2_000  # characters of a plan
END = "[END]"  # closes a conversation, after an optional message
NOTHING = ("", "nothing", "none", "end")  # an agent's texts for silence, with or without brackets

_OBJECT = re.compile(r"\{\s*(?:[\"}]|\Z)")  # beginning of a JSON object
_WORDS = "answer|action|choice|option|antwort|aktion|wahl|r\u00e9ponse|choix|respuesta|opci\u00f3n|resposta|risposta"
_MARKED = re.compile(  # "Answer: ...", "The answer is ...", and the same in Chinese
    rf"(?:\b(?:{_WORDS})\b[\s\"'*]*(?:(?:is|ist|est|es)\b|[:=])|\u7b54\u6848\s?[\u662f\u4e3a:])[\s\"'*]*([^\n]+)",
    re.IGNORECASE,
)
_BOXED = re.compile(r"\\(?:f?boxed|text(?:bf|it|rm)?|math(?:bf|it|rm|sf|tt))\s?\{\s?([^{}\\\n]{1,200})\}")
_ACTION = re.compile(r'"action"\s*:\s*("[^"\n]*"|[^\s,}\]]*)')
MAX_BROKEN = 50  # beginnings of objects that cannot be read
_REPAIRS = ('"}', "}", '"]}', "]}", "null}", '":null}')  # endings for truncated JSON


class Unreadable(ValueError):
    """Unreadable answer; the message asks the model for a correction."""


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def read_object(text: str, keys: Sequence[str] = ()) -> dict[str, Any] | None:
    """Return the JSON object of a text that has most of the keys, the last of several; None if there is none.

    The first object that cannot be read is completed, as it may be truncated. Decoded escapes are sanitized like any
    outside text.
    """
    text, position = text[:MAX_READ], 0
    objects: list[dict[str, Any]] = []
    broken: list[int] = []  # beginnings of what cannot be read
    while (begin := _OBJECT.search(text, position)) and len(broken) < MAX_BROKEN:
        value, end = _decode(text, begin.start())
        objects += [] if value is None else [value]
        broken += [begin.start()] if value is None else []
        position = end or begin.start() + 1
    values = (_decode(text[broken[0] :] + ending, 0)[0] for ending in _REPAIRS) if broken else iter(())
    mended = next((value for value in values if value is not None), None)
    objects = [*([] if mended is None else [mended]), *objects]
    names = set(map(str.casefold, keys))
    return max(reversed(objects), key=lambda value: len(names.intersection(map(str.casefold, value))), default=None)


def _decode(text: str, begin: int) -> tuple[dict[str, Any] | None, int]:
    try:
        value, end = json.JSONDecoder(parse_constant=lambda name: None, strict=False).raw_decode(text, begin)
        plain = harmless_values(value)
    except (ValueError, RecursionError):
        return None, 0
    return redact_values(plain), end


def choice_schema(count: int) -> dict[str, Any]:
    """Return the JSON schema of an answer that names one of ``count`` numbered actions."""
    return object_schema({"action": {"type": "integer", "enum": list(range(1, count + 1))}})


def read_choice(text: str, texts: Sequence[str]) -> int:
    """Parse the choice of a numbered action.

    Args:
        text: JSON in the requested form, or plain text with a number or the text of an action.
        texts: Actions; the first has number 1.

    Returns:
        Index of the action.
    """
    text, texts = _normal(visible(text)), [_normal(text) for text in texts]
    answer = named_value(text, ("action", "aktion"))
    if answer is not None:
        return _choice_of(answer, texts)
    inside = _ACTION.search(text)
    if inside is not None:  # in truncated or broken JSON, whose other numbers have other meanings
        return _choice_of(inside[1].strip('"'), texts)
    marked = re.findall(r"\ba[ck]tion\b[\s\"'*:=#]*([^\n]+)", text, re.IGNORECASE)
    for candidate in (*_marked(text), *reversed(marked), text):
        try:
            return _choice_of(candidate.strip(), texts)
        except Unreadable:
            continue
    numbers = {int(number) for number in re.findall(r"(?<![\w.(])\d{1,4}(?![\w(])", text)}
    offered = [number for number in numbers if 1 <= number <= len(texts)]
    if len(offered) == 1:
        return offered[0] - 1
    raise _no_choice(texts)


def _choice_of(value: Any, texts: Sequence[str]) -> int:
    if isinstance(value, str):
        plain = _plain(value)
        same = [i for i, text in enumerate(texts) if _plain(text) == plain]
        if same:
            return same[0]
        number = re.fullmatch(r"\W*(\d{1,4})\W*", value) or re.match(r"\W*(\d{1,4})[.):](?:\s|$)", value)
        value = int(number[1]) if number else None
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= len(texts):
        return value - 1
    raise _no_choice(texts)


def named_value(text: str, names: Sequence[str]) -> Any:
    """Return the value of the first of these keys in the JSON object of a text; None if missing."""
    answer = {key.casefold(): value for key, value in (read_object(text, names) or {}).items()}
    return next((answer[name] for name in names if name in answer), None)


def _marked(text: str) -> list[str]:
    return [*reversed(_BOXED.findall(text)), *reversed(_MARKED.findall(text))]


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _plain(text: str) -> str:
    return re.sub(r"[\s\"'*`.]+", "", text).casefold()


def _no_choice(texts: Sequence[str]) -> Unreadable:
    return Unreadable(f"Answer with the number of one action from 1 to {len(texts)}.")


MAX_LETTER_SEARCH = 200  # characters that are searched for a letter
_LETTER = re.compile(rf"[\W_]*+(?:(?:LETTER|{_WORDS})[\s:]\W*+)?([A-Z])[\W_]*", re.IGNORECASE)
_LETTERED = re.compile(
    rf"\W*(?:(?:{_WORDS})\s+)?\(?([A-Z])(?:[.):,]|\*\*|\s+(?:because|since|[-\u2013\u2014]))(?:\W|$)",
    re.IGNORECASE,
)


def letter_schema(count: int, thinks: bool) -> dict[str, Any]:
    """Return the JSON schema of an answer that names one of ``count`` lettered choices, optionally after thoughts."""
    thoughts = {"analysis": {"type": "string"}} if thinks else {}
    return object_schema({**thoughts, "answer": {"type": "string", "enum": [chr(65 + i) for i in range(count)]}})


def read_letter(text: str, choices: Sequence[str]) -> int:
    """Parse the choice of a lettered option.

    Args:
        text: JSON in the requested form, a letter, or the text of a choice, optionally after thoughts.
        choices: Texts of the choices; the first has the letter A.

    Returns:
        Index of the choice.
    """
    text, choices = _normal(visible(text)), [_normal(choice) for choice in choices]
    answer = str(named_value(text, ("answer", "choice", "option", "letter", "action", "antwort", "aktion")) or "")
    lines = [line for line in text.splitlines() if line.strip()]
    for candidate in (*_marked(answer), answer, *_marked(text), text, *lines[-1:], *lines[:1]):
        number = _letter_of(candidate, choices)
        if number is not None:
            return number
    raise Unreadable(f"Answer with one letter from A to {chr(64 + len(choices))}.")


def _letter_of(text: str, choices: Sequence[str]) -> int | None:
    plain = _plain(text)
    same = [i for i, choice in enumerate(choices) if _plain(choice) == plain]
    if same:
        return same[0]
    short = text.strip()[:MAX_LETTER_SEARCH]  # the patterns take quadratic time in the length
    letter = (_LETTER.fullmatch(short) if short == text.strip() else None) or _LETTERED.match(short)
    if letter:
        number = ord(letter[1].upper()) - 65
        return number if number < len(choices) else None
    inside = [i for i, choice in enumerate(choices) if len(_plain(choice)) > 3 and _names(text, choice)]
    longest = [i for i in inside if not any(i != j and _names(choices[j], choices[i]) for j in inside)]
    return longest[0] if len(longest) == 1 else None


def _names(text: str, choice: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(choice.casefold())}(?!\w)", text.casefold()) is not None


def fields_schema(names: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of an answer with named texts."""
    return object_schema({name: {"type": "string"} for name in names})


def read_fields(text: str, names: Sequence[str], needed: Sequence[str]) -> dict[str, str]:
    """Parse named texts of an answer.

    Args:
        text: JSON in the requested form, or plain text in which each part begins on a new line with its name and a
            colon.
        names: Names of the parts.
        needed: Names of required parts.

    Returns:
        Text by name, empty if missing.
    """
    text = visible(text)
    answer = read_object(text, names)
    parts = _from_lines(text, names) if answer is None else _from_object(answer, names)
    missing = [name for name in needed if not parts.get(name)]
    if missing or not parts:
        raise Unreadable(f"Your answer lacks {' and '.join(missing or names)}. Write all of: {', '.join(names)}.")
    return {name: parts.get(name, "") for name in names}


def _from_object(answer: Mapping[str, Any], names: Sequence[str]) -> dict[str, str]:
    folded = {str(key).casefold(): value for key, value in answer.items()}
    return {name: _value_text(folded[name.casefold()]) for name in names if name.casefold() in folded}


def _value_text(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(filter(None, (_value_text(part) for part in value if not isinstance(part, list))))
    return str(value).strip() if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def _from_lines(text: str, names: Sequence[str]) -> dict[str, str]:
    marks = "|".join(map(re.escape, names))
    pieces = re.split(rf"(?im)^[ \t*#>-]*({marks})[ \t*]*[:=][ \t*]*", text)
    parts: dict[str, str] = {}
    for name, part_text in zip(pieces[1::2], pieces[2::2], strict=True):
        parts[name.casefold()] = parts.get(name.casefold()) or part_text.strip()
    return {name: parts[name.casefold()] for name in names if name.casefold() in parts}


def shorten(text: str, limit: int) -> str:
    """Return a text truncated to a number of characters."""
    text = text.strip()
    return text if len(text) <= limit else text[: limit - 3].rstrip() + "..."


def read_say(text: str) -> tuple[str, bool]:
    """Return the message of an answer, empty for silence, and whether it closes the conversation."""
    say, mark, _ = text.partition(END)
    say = say.strip()
    silent = say.strip("[]. ").casefold() in NOTHING
    return ("" if silent else shorten(say, MAX_SAY)), bool(mark) or silent


def read_plan(text: str) -> str:
    """Return a plan on one line, truncated after its last complete part if too long."""
    plan = "; ".join(part.strip() for part in text.replace("\n", ";").split(";") if part.strip())
    return plan if len(plan) <= MAX_PLAN else plan[:MAX_PLAN].rpartition(";")[0]


PLAN_MARK = "Plan:"


def joint_plan_text(plan: Mapping[str, Sequence[str]]) -> str:
    """Return a joint plan as text that ``read_joint_plan`` can parse: steps by name."""
    return " ".join([PLAN_MARK, *(f"{name}: {'; '.join(steps)}." for name, steps in plan.items() if steps)])


def read_joint_plan(text: str, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the steps by name of the last joint plan in a message; empty without one."""
    _, mark, plans = text.rpartition(PLAN_MARK)
    if not mark:
        return {}
    pieces = re.split(rf"(?<!\w)({'|'.join(map(re.escape, names))})[ \t*]*:", plans)
    parts = {name: read_steps(steps) for name, steps in zip(pieces[1::2], pieces[2::2], strict=True)}
    return {name: steps for name, steps in parts.items() if steps}


def read_steps(text: str) -> list[str]:
    """Return the steps of one agent's part of a plan."""
    pieces = re.split(r"[;\n]", read_plan(text))
    return [step for piece in pieces if (step := re.sub(r"^\W*\d+[.)]\s*", "", piece).strip(" .-*"))]


def find_step(step: str, texts: Sequence[str]) -> str | None:
    """Return the action of a step in a plan: an exact match, or the only action named in the step."""
    same = [text for text in texts if _plain(text) == _plain(step)]
    inside = [text for text in texts if len(_plain(text)) > 3 and _names(step, text)]
    longest = [text for text in inside if not any(text != other and _names(other, text) for other in inside)]
    return same[0] if same else longest[0] if len(longest) == 1 else None


def verdict_schema() -> dict[str, Any]:
    """Return the JSON schema of a judgement."""
    return object_schema({"okay": {"type": "boolean"}, "reason": {"type": "string"}})


def read_verdict(text: str) -> tuple[bool, str]:
    """Return whether an answer approves, and its reason."""
    text = visible(text)
    answer = read_object(text, ["okay"])
    if answer is not None and isinstance(answer.get("okay"), bool):
        return answer["okay"], shorten(_value_text(answer.get("reason")), MAX_SAY)
    verdict = re.search(r"\b(not\s+okay|not\s+ok|okay|ok|yes|no)\b", text, re.IGNORECASE)
    if verdict is None:
        raise Unreadable("Begin with okay or not okay.")
    return verdict[1].casefold() in ("okay", "ok", "yes"), shorten(text[verdict.end() :].strip(" .:,-\n"), MAX_SAY)


def commands_schema(legal: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the JSON schema of one legal command for each agent."""
    return object_schema({name: {"type": "string", "enum": list(texts)} for name, texts in legal.items()})
