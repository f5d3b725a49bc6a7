"""Tools as a channel: actions, messages and requests as calls of functions, with schemas from the legal actions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.policies.llm.answers import TOOL, Answer, Unreadable, calls_in, object_schema, read_object
from collab_overcooked.policies.llm.markup import visible

CHANNELS = TEXT, TOOLS = "text", "tools"
ACT, SAY, REQUEST = "act", "say", "request"
CALLS = "calls"  # field of a reply's text


def make_tool(name: str, description: str, field: str, texts: Sequence[str] = ()) -> dict[str, Any]:
    """Return a tool with one text as its argument.

    Args:
        name: Name of the tool.
        description: One sentence for the model.
        field: Name of the argument.
        texts: Allowed values; empty for any text.
    """
    kind = {"type": "string", **({"enum": list(texts)} if texts else {})}
    return {"name": name, "description": description, "parameters": object_schema({field: kind})}


def act_tool(texts: Sequence[str], description: str) -> dict[str, Any]:
    """Return the tool for the seat's own actions."""
    return make_tool(ACT, description, "action", texts)


def talk_tools(requests: Sequence[str]) -> tuple[dict[str, Any], ...]:
    """Return the tools for messages and requests.

    Args:
        requests: Actions of teammates, empty if the seat does not know them.
    """
    ask = "Ask a teammate for an action; it is carried out only if the teammate decides to. Needs a message."
    return (make_tool(REQUEST, ask, "action", requests), make_tool(SAY, "Say something to the teammates.", "message"))


def calls_text(calls: Sequence[tuple[str, str]]) -> str:
    """Return calls of tools, pairs of name and arguments as JSON text, as the text of a reply."""
    fields = ("action", "message")
    arguments = [(name, read_object(text, fields)) for name, text in calls]
    named = [
        {"name": name, "arguments": answer.value if answer else text}
        for (name, answer), (_, text) in zip(arguments, calls, strict=True)
    ]
    return json.dumps({CALLS: named}, ensure_ascii=False)


def _read_calls(text: str, tools: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    fields = {tool["name"]: next(iter(tool["parameters"]["properties"])) for tool in tools}
    text = visible(text)
    answer = read_object(text, [CALLS])
    written = [{"name": name, "arguments": arguments} for name, arguments in calls_in(text)]  # no parser on the server
    calls = answer.value[CALLS] if answer else written
    read = []
    if not isinstance(calls, list) or not calls:
        raise Unreadable(f"Answer with calls of tools only: {', '.join(fields)}.")
    for call in calls:
        name = str(call.get("name")) if isinstance(call, dict) else ""
        if name not in fields:
            raise Unreadable(f"There is no tool {name[:50]!r}; the tools are {', '.join(fields)}.")
        arguments = call.get("arguments")
        value = arguments.get(fields[name]) if isinstance(arguments, dict) else None
        if not isinstance(value, str) or not value.strip():
            raise Unreadable(f"A call of {name} needs the argument {fields[name]!r}, a text.")
        read.append((name, value.strip()))
    return read


def read_act(text: str, tools: Sequence[Mapping[str, Any]], texts: Sequence[str]) -> Answer:
    """Parse the index of the action in the first call of ``act``.

    Raises:
        Unreadable: No call names one of the actions.
    """
    for name, action in _read_calls(text, tools):
        if name == ACT and action in texts:
            return Answer(texts.index(action), TOOL)
    raise Unreadable(f"Call the tool {ACT} with one of these actions: {'; '.join(texts)}.")


def read_parts(text: str, tools: Sequence[Mapping[str, Any]], needs_plan: bool) -> Answer:
    """Parse the ``plan`` and ``say`` of tool calls, in order.

    Raises:
        Unreadable: A plan is needed, and the tool ``act`` is not called.
    """
    calls = _read_calls(text, tools)
    plan = [action if name == ACT else f"{REQUEST}('{action}')" for name, action in calls if name != SAY]
    if needs_plan and not plan:
        raise Unreadable(f"Call the tool {ACT} at least once.")
    return Answer({"plan": "; ".join(plan), SAY: " ".join(value for name, value in calls if name == SAY)}, TOOL)
