"""Strict parsing of models' answers. Answers are treated as text only and never executed.

What counts is what stands outside of thinking markup: first calls of tools (``tools``), else the one JSON object of the
requested shape, whose syntax may be repaired, else the last line, exactly. Everything else is unreadable and asked
again; nothing is inferred from prose. Where answers are free text, the last line may end with its action, in any words
that the game reads.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import json_repair

from collab_overcooked.io.redaction import redact_values
from collab_overcooked.io.text import harmless_values
from collab_overcooked.policies.llm.markup import visible

MAX_SAY = 1_000  # characters of a message to teammates
MAX_PLAN = 2_000  # characters of a plan
END = "[END]"  # closes a conversation, after an optional message
NOTHING = ("", "nothing", "none", "end")  # an agent's texts for silence, with or without brackets
TOOL, JSON, REPAIRED, LINE, CORRECTED, UNUSABLE = "tool", "json", "repaired", "line", "corrected", "unusable"
"""How answers are read: as a call of a tool, as JSON, as JSON with repaired syntax, as a line, in a correction, not."""
PROSE = ""  # of answers of any form, which are not counted

_OBJECT = re.compile(r"\{\s*(?:[\"'}]|[A-Za-z_]\w*\s*:)")  # beginning of a JSON object
_DECODER = json.JSONDecoder(parse_constant=lambda name: None, strict=False)
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
MAX_BROKEN = 8  # beginnings of objects that are repaired


class Unreadable(ValueError):
    """Unreadable answer; the message asks the model for a correction."""


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

    Objects outside of code fences come before those inside. Decoded escapes are sanitized like any outside text.

    Args:
        text: Text without thinking markup.
        names: Keys of the object, of which it has at least one; their case does not matter.
        needed: Keys that it must have.

    Raises:
        Unreadable: Several objects of this shape have different values.
    """
    for part in (_FENCED.sub("", text), text):
        fitting: list[Answer] = []
        for value, how in _objects(part):
            folded = {str(key).casefold(): entry for key, entry in value.items()}
            entries = {name: folded[name.casefold()] for name in names if name.casefold() in folded}
            if entries and all(name in entries for name in needed):
                fitting.append(Answer(entries, how))
        if any(answer.value != fitting[0].value for answer in fitting):
            raise Unreadable(f"Your answer has several JSON objects that disagree; write one, with {', '.join(names)}.")
        if fitting:
            return fitting[0]
    return None


def _objects(text: str) -> list[tuple[dict[str, Any], str]]:
    sound: list[tuple[dict[str, Any], str]] = []
    broken: list[int] = []
    position = 0
    while len(broken) < MAX_BROKEN and (begin := _OBJECT.search(text, position)):
        start = begin.start()
        try:
            value, position = _DECODER.raw_decode(text, start)
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


def choice_schema(count: int, first: int = 1) -> dict[str, Any]:
    """Return the JSON schema of an answer that names one of ``count`` actions, numbered from ``first``."""
    return object_schema({"action": {"type": "integer", "enum": list(range(first, first + count))}})


def letter_schema(count: int, thinks: bool) -> dict[str, Any]:
    """Return the JSON schema of an answer that names one of ``count`` lettered choices, optionally after thoughts."""
    thoughts = {"analysis": {"type": "string"}} if thinks else {}
    return object_schema({**thoughts, "answer": {"type": "string", "enum": [chr(65 + i) for i in range(count)]}})


def read_choice(
    text: str, texts: Sequence[str], first: int = 1, parse: Callable[[str], int | None] | None = None
) -> Answer:
    """Parse the choice of a numbered action; the value is its index.

    Args:
        text: Answer of the model.
        texts: Actions.
        first: Number of the first one.
        parse: See ``read_option``.

    Raises:
        Unreadable: If the answer names no action, or several.
    """
    last = first + len(texts) - 1
    numbers = [str(number) for number in range(first, last + 1)]
    return read_option(text, texts, numbers, "action", f"the number of one action from {first} to {last}", parse)


def read_letter(text: str, choices: Sequence[str]) -> Answer:
    """Parse the choice of a lettered option; the value is its index.

    Args:
        text: Answer of the model.
        choices: Texts of the choices; the first has the letter A.
    """
    letters = [chr(65 + i) for i in range(len(choices))]
    return read_option(text, choices, letters, "answer", f"one letter from A to {letters[-1]}")


def read_option(
    text: str,
    texts: Sequence[str],
    labels: Sequence[str],
    key: str,
    form: str,
    parse: Callable[[str], int | None] | None = None,
) -> Answer:
    """Parse the choice of an option by its label, its text, or both; the value is its index.

    Args:
        text: Answer of the model.
        texts: Texts of the options.
        labels: Their numbers or letters; empty if they have none.
        key: Key of the choice in a JSON object.
        form: Requested form, for the message to the model.
        parse: Returns the index of an option in other words, None for none. With it, the last line may have an
            explanation before its last ``Action:``.

    Raises:
        Unreadable: If the answer names no option, or several.
    """
    text = unicodedata.normalize("NFKC", visible(text))
    answer = read_object(text, [key], [key])
    last = _last_line(text)
    line = _option_of(last, texts, labels)
    if line is None and parse is not None:
        phrase = _WITHIN.split(last)[-1]
        named = _option_of(phrase, texts, labels)
        line = parse(phrase) if named is None else named
    if answer is None and line is not None:
        return Answer(line, LINE)
    number = None if answer is None else _option_of(answer.value[key], texts, labels)
    asked = f'Answer with JSON, {{"{key}": ...}}, or with a last line that is nothing but {form}.'
    if answer is None or number is None:
        raise Unreadable(f"Your answer names no option. {asked}")
    if line not in (None, number):
        raise Unreadable(f"The JSON object and the last line of your answer disagree. {asked}")
    return Answer(number, answer.how)


def _option_of(value: object, texts: Sequence[str], labels: Sequence[str]) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    plain = _plain(str(value))
    named = [i for i, text in enumerate(texts) if _plain(text) == plain]
    for i, label in enumerate(labels):
        both = re.fullmatch(rf"\(?{label}\)?[.):]?(.*)", plain, re.IGNORECASE)
        if both and both[1] in ("", _plain(texts[i])):
            named.append(i)
    return named[0] if len(set(named)) == 1 else None


_ANNOUNCED = re.compile(r"(?:final\s*)?(?:answer|action|rating|sub-?plan)\s*:\s*(.+)", re.IGNORECASE)
_WITHIN = re.compile(r"\baction\W*:\W*", re.IGNORECASE)
_TAG = re.compile(r"</?(?:answer|action)>", re.IGNORECASE)
_BOXED = re.compile(r"\\(?:f?boxed|text\w*|math\w+)\s*\{([^{}]*)\}")


def _last_line(text: str) -> str:
    lines = [_TAG.sub("", line).strip(" \t*_#$`") for line in text.splitlines()]
    line = next((line for line in reversed(lines) if line), "")
    while line != (inner := _BOXED.sub(r"\1", line) if line.startswith("\\") or _ANNOUNCED.match(line) else line):
        line = inner
    announced = _ANNOUNCED.fullmatch(line.replace("**", "").replace("__", ""))
    return announced[1] if announced else line


def _plain(text: str) -> str:
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


def read_plan(text: str) -> str:
    """Return a plan on one line, truncated after its last complete part if too long."""
    plan = "; ".join(part.strip() for part in text.replace("\n", ";").split(";") if part.strip())
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
    return next((text for text in texts if _plain(text) == _plain(step)), None)


def verdict_schema() -> dict[str, Any]:
    """Return the JSON schema of a judgement."""
    return object_schema({"okay": {"type": "boolean"}, "reason": {"type": "string"}})


def read_verdict(text: str) -> Answer:
    """Parse a judgement; the value is whether the answer approves, and its reason."""
    text = visible(text)
    answer = read_object(text, ["okay", "reason"], ["okay"])
    if answer is not None and isinstance(answer.value["okay"], bool):
        return Answer((answer.value["okay"], shorten(_value_text(answer.value.get("reason")), MAX_SAY)), answer.how)
    verdict = re.match(r"[\s*_]*(not\s+okay|okay)\b[\s*_]*(?:[.,:;!-]|\Z)", text, re.IGNORECASE)
    if answer is not None or verdict is None:
        raise Unreadable("Begin with okay or not okay, or answer with JSON: okay (true or false) and reason.")
    reason = shorten(text[verdict.end() :].strip(" .:,-\n"), MAX_SAY)
    return Answer((verdict[1].casefold() == "okay", reason), LINE)


def commands_schema(legal: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the JSON schema of one legal command for each agent."""
    return object_schema({name: {"type": "string", "enum": list(texts)} for name, texts in legal.items()})
