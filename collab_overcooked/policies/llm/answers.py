"""Strict parsing of models' answers. Answers are treated as text only and never executed.

What counts is what stands outside of thinking markup: calls of tools, also as text, else the one JSON object of the
requested shape, whose syntax may be repaired, else what is said plainly, see ``choices``. Everything else is unreadable
and asked again; nothing is inferred from prose.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import json_repair

from collab_overcooked.io.redaction import redact_values
from collab_overcooked.io.text import harmless_values
from collab_overcooked.policies.llm.markup import visible

MAX_SAY = 1_000  # characters of a message to teammates
MAX_PLAN = 2_000  # characters of a plan
END = "[END]"  # closes a conversation, after an optional message
NOTHING = ("", "nothing", "none", "end")  # an agent's texts for silence, with or without brackets
TOOL = "tool"
JSON = "json"
REPAIRED = "repaired"
LINE = "line"
CORRECTED = "corrected"
UNUSABLE = "unusable"
"""How answers are read: as a call of a tool, as JSON, as JSON with repaired syntax, as a line, in a correction, not."""
PROSE = ""  # of answers of any form, which are not counted

_OBJECT = re.compile(r"\{\s*(?:[\"'}]|[A-Za-z_]\w*\s*:)")  # beginning of a JSON object
MAX_BROKEN = 8  # beginnings of objects that are repaired


class Unreadable(ValueError):
    """Unreadable answer; the message asks the model for a correction."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if values.setdefault(key, value) != value:
            raise Unreadable(f"Your JSON object has {key[:50]!r} twice, with different values; write it once.")
    return values


_DECODER = json.JSONDecoder(parse_constant=lambda name: None, strict=False, object_pairs_hook=_once)


class Answer(NamedTuple):
    """Value of an answer, and how it was read."""

    value: Any
    how: str  # Such as ``JSON``, or ``PROSE``


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def read_object(text: str, names: Sequence[str], needed: Sequence[str] = ()) -> Answer | None:
    """Return the JSON object of the requested shape; None if there is none.

    Arguments of tool calls that a model writes as text count as objects. Decoded escapes are sanitized like any outside
    text.

    Args:
        text: Text without thinking markup.
        names: Keys of the object, of which it has at least one; their case does not matter.
        needed: Keys that it must have.

    Raises:
        Unreadable: Several objects of this shape have different values, or one has a key twice.
    """
    fitting: list[Answer] = []
    objects = _objects(text)
    for value, how in [*objects, *((arguments, TOOL) for _, arguments in _calls(text, objects))]:
        folded = {str(key).casefold(): entry for key, entry in value.items()}
        entries = {name: folded[name.casefold()] for name in names if name.casefold() in folded}
        if entries and all(name in entries for name in needed):
            fitting.append(Answer(entries, how))
    if any(answer.value != fitting[0].value for answer in fitting):
        raise Unreadable(f"Your answer has several JSON objects that disagree; write one, with {', '.join(names)}.")
    return fitting[0] if fitting else None


# Calls of tools as text, in XML (GLM, Qwen3-Coder) and as Python (Gemma, Llama 4)
_XML = re.compile(
    r"<tool_call>\s*(?:<function=)?(?P<name>\w+)>?\s*(?P<arguments>(?:<(?:arg_key|parameter).*?)?)"
    r"(?:</function>\s*)?</tool_call>",
    re.DOTALL,
)
_ARGUMENT = re.compile(
    r"<arg_key>\s*(\w+)\s*</arg_key>\s*<arg_value>(.*?)</arg_value>|<parameter=(\w+)>(.*?)</parameter>", re.DOTALL
)
_PYTHON = re.compile(r"(?:```(?:tool_code|python)?\s*|\A\s*)\[?(?:print\()?(?P<call>\w+\([^`]*?\))\)?\]?\s*(?:```|\Z)")
_KEYWORDS = re.compile(r"(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|(-?[\d.]+))\s*(?:,|\)\Z)")


def calls_in(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Return name and arguments of the tool calls that a model writes as text.

    Raises:
        Unreadable: An argument is given twice, with different values.
    """
    return _calls(text, _objects(text))


def _calls(text: str, objects: Sequence[tuple[dict[str, Any], str]]) -> list[tuple[str, dict[str, Any]]]:
    calls = []
    for value, _ in objects:  # Hermes, Qwen, Llama, Mistral, Cohere
        name = next((value[key] for key in ("name", "tool_name", "function") if isinstance(value.get(key), str)), None)
        arguments = next((value[key] for key in ("arguments", "parameters") if key in value), None)
        if isinstance(arguments, str):
            arguments = next((value for value, _ in _objects(arguments)), None)
        if name is not None and isinstance(arguments, dict):
            calls.append((name, arguments))
    for call in _XML.finditer(text):
        pairs = [
            (key or other, (value or other_value).strip())
            for key, value, other, other_value in _ARGUMENT.findall(call["arguments"])
        ]
        calls.append((call["name"], _once(pairs)))
    for call in _PYTHON.finditer(text):
        name, _, keywords = call["call"].partition("(")
        found = _KEYWORDS.findall(keywords)
        if found:
            calls.append((name, _once([(key, one or other or number) for key, one, other, number in found])))
    return calls


def outside_objects(text: str) -> str:
    """Return a text without its JSON objects, sound or broken."""
    parts, position = [], 0
    while begin := _OBJECT.search(text, position):
        parts.append(text[position : begin.start()])
        try:
            position = _DECODER.raw_decode(text, begin.start())[1]
        except (ValueError, RecursionError):
            position = text.find("}", begin.start()) + 1 or len(text)
    return "".join([*parts, text[position:]])


def _objects(text: str) -> list[tuple[dict[str, Any], str]]:
    sound: list[tuple[dict[str, Any], str]] = []
    broken: list[int] = []
    position = 0
    while len(broken) < MAX_BROKEN and (begin := _OBJECT.search(text, position)):
        start = begin.start()
        try:
            value, position = _DECODER.raw_decode(text, start)
        except Unreadable:
            raise
        except (ValueError, RecursionError):
            broken.append(start)
            position = start + 1
            continue
        before = text[broken[-1] : start] if broken else ""
        if before.count("{") <= before.count("}"):  # not a part of a broken one
            sound += _plain_objects(value, JSON)
    # Each to the end of the text, as it may be cut off, and to the next beginning, as another one may follow.
    ends = (*broken[1:], None)
    pieces = dict.fromkeys(text[begin:end] for begin, stop in zip(broken, ends, strict=False) for end in (stop, None))
    return [*sound, *(entry for piece in pieces for entry in _plain_objects(_repaired(piece), REPAIRED))]


def _repaired(text: str) -> Any:
    if text[-1:].isalnum():  # a word or number that may be cut off
        text = re.sub(r"[\w.+-]+\Z", "", text)
    try:
        return json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None


def _plain_objects(value: object, how: str) -> list[tuple[dict[str, Any], str]]:
    try:
        return [
            (redact_values(harmless_values(part)), how)
            for part in (value if isinstance(value, list) else [value])
            if isinstance(part, dict)
        ]
    except (ValueError, RecursionError):
        return []


def plain_text(text: str) -> str:
    """Normalise a text for comparing options: without spaces, case and surrounding marks."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text)).casefold().strip("*_\"'`.$")


def fields_schema(names: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of an answer with named texts."""
    return object_schema({name: {"type": "string"} for name in names})


def read_fields(text: str, names: Sequence[str], needed: Sequence[str]) -> Answer:
    """Parse named texts of an answer; the value has the text of each name, empty if missing.

    Args:
        text: JSON in the requested form, or plain text in which each part begins on a new line with its name and a
            colon.
        names: Names of the parts.
        needed: Names of required parts.

    Raises:
        Unreadable: A text is missing.
    """
    text = visible(text)
    answer = read_object(text, names)
    parts = _from_lines(text, names) if answer is None else {n: _value_text(v) for n, v in answer.value.items()}
    missing = [name for name in needed if not parts.get(name)]
    if missing or not parts:
        raise Unreadable(f"Your answer lacks {' and '.join(missing or names)}. Write all of: {', '.join(names)}.")
    return Answer({name: parts.get(name, "") for name in names}, LINE if answer is None else answer.how)


def _value_text(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(filter(None, (_value_text(part) for part in value if not isinstance(part, list))))
    return str(value).strip() if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def _from_lines(text: str, names: Sequence[str]) -> dict[str, str]:
    marks = "|".join(map(re.escape, names))
    pieces = re.split(rf"(?im)^[ \t*#>-]*({marks})[ \t*]*[:=][ \t*]*", text)
    parts: dict[str, str] = {}
    for name, part_text in zip(pieces[1::2], pieces[2::2], strict=True):
        if parts.setdefault(name.casefold(), part_text.strip()) != part_text.strip():
            raise Unreadable(f"Your answer has several parts {name.casefold()} that disagree; write each part once.")
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


_SEPARATOR = re.compile(r"[;\n]|,(?![^()]*\))")  # a comma in parentheses separates arguments
_BULLET = re.compile(r"^\s*(?:[-*\u2022\u2013]\s+|\(?\d{1,2}[.)]\s+)+")


def read_plan(text: str) -> str:
    """Return a plan on one line, truncated after its last complete part if too long."""
    parts = (_BULLET.sub("", part).strip(" \t`*.") for part in _SEPARATOR.split(text))
    plan = "; ".join(filter(None, parts))
    return plan if len(plan) <= MAX_PLAN else plan[:MAX_PLAN].rpartition(";")[0]


PLAN_MARK = "Plan:"


def joint_plan_text(plan: Mapping[str, Sequence[str]]) -> str:
    """Return a joint plan as text: steps by name."""
    return " ".join(f"{name}: {'; '.join(steps)}." for name, steps in plan.items() if steps)


def read_joint_plan(text: str, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the steps by name of the last joint plan in a message, after ``PLAN_MARK``; empty without one."""
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
    """Return the action of a step in a plan, which must be its text; None if it is another one."""
    return next((text for text in texts if plain_text(text) == plain_text(step)), None)


def verdict_schema() -> dict[str, Any]:
    """Return the JSON schema of a judgement."""
    return object_schema({"okay": {"type": "boolean"}, "reason": {"type": "string"}})


_TAKEN_BACK = re.compile(
    r"[\s*_-]*(?:not|no|never|but|however|except|unless|wait|actually|okay)\b|\W*\?", re.IGNORECASE
)


def read_verdict(text: str) -> Answer:
    """Parse a judgement; the value is whether the answer approves, and its reason.

    Raises:
        Unreadable: The answer neither approves nor rejects.
    """
    text = visible(text)
    answer = read_object(text, ["okay", "reason"], ["okay"])
    if answer is not None and isinstance(answer.value["okay"], bool):
        return Answer((answer.value["okay"], shorten(_value_text(answer.value.get("reason")), MAX_SAY)), answer.how)
    verdict = re.match(r"[\s*_]*(not\s+okay|okay)\b[\s*_]*(?:[.,:;!-]|\Z)", text, re.IGNORECASE)
    taken_back = verdict is not None and _TAKEN_BACK.match(text, verdict.end())
    if answer is not None or verdict is None or taken_back:
        raise Unreadable("Begin with okay or not okay, or answer with JSON: okay (true or false) and reason.")
    reason = shorten(text[verdict.end() :].strip(" .:,-\n"), MAX_SAY)
    return Answer((verdict[1].casefold() == "okay", reason), LINE)


def commands_schema(legal: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the JSON schema of one legal command for each agent."""
    return object_schema({name: {"type": "string", "enum": list(texts)} for name, texts in legal.items()})
