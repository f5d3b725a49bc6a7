"""Markup that models print around their answers: thoughts, channels and special tokens."""

from __future__ import annotations

import json
import re
from typing import Literal

MAX_READ = 50_000  # characters at the end of an answer that are parsed
MAX_SEARCHED = 1_000_000  # characters at the end of a text in which markup is looked for

_MARK = re.compile(
    r"(?P<turn><\|?(?:im_start|start_header_id|start|begin|start_of_role|start_of_turn)\|?>)\s?(?P<role>\w{1,20})"
    r"(?:<\|(?:end_header_id|end_of_role|content)\|>)?"
    r"|<\|channel\|?>\s?(?P<channel>\w{1,30})(?:[^<>|\n]{0,80}(?:<\|constrain\|>[^<>|]{0,40})?<\|message\|>)?"
    r"|(?P<closed><channel\|>)"
    r"|(?:(?P<bar><[|\uff5c])|[<\u25c1])(?P<tag>/?[\w:.\u2581-]{1,80})(?:\s[^<>\n]{0,80})?[|\uff5c]?[>\u25b7]"
    r"|\[(?P<bracket>/?(?:think(?:ing)?|inst))\]"
    r"|(?P<answer>assistantfinal)|(?P<thought>\A(?-i:analysis(?=[A-Z])))",
    re.IGNORECASE,
)
_THOUGHT = re.compile(
    r"think|thought|reason|reflect|scratch_?pad|monologue|rationale|analy[sz]|deliberat|brainstorm|critique|draft|inner_"
    r"|chain_of|unused9[45]",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"/|(?:.*_)?(?:end|suffix|stop)(?:_|\Z)|unused95\Z", re.IGNORECASE)
_END = re.compile(  # plain tags, then tokens between bars
    r"/s|eos|eot|/?inst|end_of_\w+|\|(?:eos|eo[tm]_id|im_end|end|return|call|user|human|observation|endof\w+)"
    r"|\|[\w\u2581]*end[_\u2581]?of[_\u2581][\w\u2581]*",
    re.IGNORECASE,
)
Kind = Literal["open", "close", "answer", "end", "token", ""]


def visible(text: str) -> str:
    """Return the answer in a text, without thoughts, markup and text after the end of the model's turn.

    A thought without an end is all thought; an end without a beginning ends a thought that the chat template began.
    """
    if _is_object(text):
        return text.strip()[-MAX_READ:]
    text = text[-MAX_SEARCHED:]
    parts: list[str] = []
    thoughts: list[str] = []  # words of the open thoughts
    position, ended = 0, False
    for mark in _MARK.finditer(text):
        kind, word = _kind_of(mark)
        if not kind:
            continue
        if not thoughts and not ended:
            parts.append(text[position : mark.start()])
        position = mark.end()
        if kind == "open" and word not in thoughts:
            thoughts.append(word)
        elif kind == "close" and word in thoughts:
            del thoughts[thoughts.index(word) :]
        elif kind == "close" or (kind == "answer" and (word or not thoughts)):
            parts, thoughts, ended = [], [], False
        elif kind == "end":
            ended = ended or (not thoughts and any(map(str.strip, parts)))
            thoughts = []
    if not thoughts and not ended:
        parts.append(text[position:])
    return "".join(parts).strip()[-MAX_READ:]


def _is_object(text: str) -> bool:
    try:
        return text.lstrip().startswith("{") and isinstance(json.loads(text, strict=False), dict)
    except (ValueError, RecursionError):
        return False


def _kind_of(mark: re.Match[str]) -> tuple[Kind, str]:
    if mark["turn"]:
        return "end" if mark["role"].casefold() in ("user", "human", "system", "tool") else "token", ""
    if mark["closed"]:
        return "close", "channel"
    if mark["channel"]:
        name = mark["channel"].casefold()
        if name == "final":
            return "answer", name
        return ("token", "") if name == "commentary" else ("open", "channel")
    if mark["answer"] or mark["thought"]:
        return ("answer" if mark["answer"] else "open"), "phrase"
    name, bar = mark["tag"] or mark["bracket"], "|" if mark["bar"] else ""
    if thought := _THOUGHT.search(name):
        word = thought[0].casefold().replace("thought", "think").replace("unused95", "unused94")
        return ("close" if _CLOSING.match(name) else "open"), word
    if _END.fullmatch(bar + name):
        return "end", ""
    return ("token" if bar else ""), ""
