"""Schema of records: fields of all games, and further fields of suites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from collab_overcooked import registry
from collab_overcooked.io import schema
from collab_overcooked.io.checks import check_options, near_matches
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.documents import LayoutError
from collab_overcooked.io.schema import Form, integer, list_of, mapping_of, object_of, optional, tuple_of
from collab_overcooked.runner.episode import SCHEMA, history_of


def event_of(**fields: Form) -> Form:
    """Return the schema of an agent's event: its label and further fields, or None."""
    return optional(object_of({"label": schema.text, **fields}))


@dataclass(frozen=True)
class RecordFields:
    """Further fields in a game's records, for its metrics and texts."""

    event: Form = field(default_factory=event_of)  # Schema of an agent's event in one step
    step: Mapping[str, Form] = field(default_factory=dict)  # Further fields of every step
    record: Mapping[str, Form] = field(default_factory=dict)  # Further required fields of the record
    optional: Mapping[str, Form] = field(default_factory=dict)  # Further optional fields of the record


def check_record(record: Any) -> None:
    """Check that a value is a record of a registered game."""
    _HEAD(record)
    _check_options(record["env_id"], record["env_kwargs"])
    _whole_record(record["env_id"], len(record["team"]), record.get("suite", ""))(record)
    if len(record["steps"]) != record["timesteps"]:
        steps = f"but there are {len(record['steps'])} steps"
        raise schema.SchemaError(f"timesteps: says {record['timesteps']}, {steps}")
    if record["history"] != history_of(record["steps"], len(record["team"])):
        raise schema.SchemaError("history: differs from the labels of the events in the steps")
    for name, value in derived_fields(record).items():
        if name in ("task", "level") and record[name] not in (value, None):
            raise schema.SchemaError(f"{name}: got {record[name]!r:.60}, but the options are those of {value!r:.60}")


def derived_fields(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a record that follow from its other fields; empty if a file of its game is missing."""
    if record.get("suite") or not registry.find(record["env_id"]).suites:
        return {}
    try:
        derived: Mapping[str, Any] = registry.load_suite(record["env_id"]).derived(record)
    except (LayoutError, OSError):
        return {}
    return derived


def _check_options(env_id: str, options: dict[str, Any]) -> None:
    if env_id not in registry.registered():
        raise ValueError(near_matches("environment id", env_id, registry.registered()))
    check_options(options, registry.game_options(env_id))
    object_of({}, {registry.LEXICON: optional(schema.name)})(options)
    registry.game_class(env_id).config_class.read((), {k: v for k, v in options.items() if k != registry.LEXICON})


def _team_of(seats: Sequence[str]) -> Form:
    def form(value: Any) -> dict[str, str]:
        team: dict[str, str] = mapping_of(schema.name)(value)
        if list(team) != list(seats):
            raise schema.SchemaError(f"has {', '.join(team) or 'no seat'}, allowed are {', '.join(seats)}"[:200])
        return team

    return form


def _check_team(value: Any) -> None:
    if not mapping_of(schema.name)(value):
        raise schema.refuse(value, "a mapping with a policy for each seat")


_HEAD = object_of(
    {
        "schema": schema.one_of((SCHEMA,)),
        "env_id": schema.name,
        "env_kwargs": mapping_of(schema.unchecked),
        "team": _check_team,
    },
    {"suite": schema.one_of(registry.COMMON_SUITES)},
)
_COUNT, _SECONDS = integer(), schema.number(0)
_TOKENS = integer(0, 10**12)  # sum over many answers, each of which is bounded on receipt
_LOGGED = object_of({"timestamp": _COUNT, "action": schema.text})
_ACCOUNT = object_of(
    {
        "model": schema.name,
        "calls": _COUNT,
        "prompt_tokens": _TOKENS,
        "completion_tokens": _TOKENS,
        "latencies": list_of(_SECONDS),
        "dollars": optional(_SECONDS),
        "trouble": mapping_of(_COUNT),
        "exhausted": schema.name,
    },
    {
        "reasoning_tokens": _TOKENS,
        "readings": mapping_of(_COUNT),
        "unusable": mapping_of(object_of({"count": _COUNT, "sample": schema.text})),
    },
)
_NODE = object_of(
    {
        "parent": integer(-1, MAX_OPTION),
        "plan": schema.text,
        "messages": list_of(schema.text),
        "visits": integer(1, MAX_OPTION),
        **dict.fromkeys(("reward", "value"), schema.number(0)),
        "solved": schema.boolean,
    }
)
_UPDATE = object_of(
    {
        **dict.fromkeys(("timestep", "seat", "calls", "characters"), _COUNT),
        "trigger": schema.name,
        "rating": optional(integer(1, 5)),
        "searched": schema.boolean,
        "plan": schema.text,
    },
    {"left_out": list_of(schema.text), "seconds": _SECONDS},
)
_SEARCH = object_of({"nodes": list_of(_NODE), "chosen": _COUNT, "depth": _COUNT})


def _check_update(value: Any) -> None:
    _UPDATE(value)
    if not value["searched"]:
        return
    _SEARCH(value)
    depths: list[int] = []
    for k, node in enumerate(value["nodes"]):
        if node["parent"] >= k:
            raise schema.SchemaError(f"nodes[{k}].parent: got {node['parent']}, allowed is a number below {k}")
        depths.append(depths[node["parent"]] + 1 if node["parent"] >= 0 else 0)
    if not depths or max(depths) > schema.MAX_DEPTH:
        raise schema.SchemaError(f"nodes: a search has at least one plan and at most {schema.MAX_DEPTH} levels")
    object_of({"chosen": integer(0, len(depths) - 1)})(value)


_PERSON = object_of(
    {
        "id": schema.name,
        "interface": schema.name,
        "clock": schema.one_of(("turns", "ticks")),
        "decisions": _COUNT,
        "seconds": _SECONDS,
        "timeouts": _COUNT,
        "disconnects": _COUNT,
        "refused": _COUNT,
    },
    {"tick": _SECONDS, "show": schema.name, "menu": schema.name, "names": schema.name},
)

_ANSWERED = {
    "seconds": optional(_SECONDS),
    "exchanges": list_of(schema.name),
}  # of a seat in a step


_OPTIONAL = {
    "options": optional(mapping_of(schema.unchecked)),
    "accounts": mapping_of(_ACCOUNT),
    "plan_updates": mapping_of(list_of(_check_update)),
    "people": mapping_of(_PERSON),
    "decisions": mapping_of(schema.tuple_of([_COUNT, _SECONDS])),
    "metrics": mapping_of(schema.unchecked),
    "ended": schema.name,
    "limits": mapping_of(_COUNT),  # of conversations and corrections, if they differ from the defaults
    "max_cycles_given": schema.boolean,
    "ends_after": integer(1, MAX_OPTION),  # steps, if the episode is stopped before its time limit
}


@lru_cache(maxsize=64)
def _whole_record(env_id: str, n_agents: int, suite: str) -> Form:
    further = (
        registry.load_suite(suite or env_id).record_fields if suite or registry.find(env_id).suites else RecordFields()
    )
    seat, seats = integer(0, n_agents - 1), [f"agent_{i}" for i in range(n_agents)]
    message = object_of({"agent": optional(seat), "say": schema.text, "plan": schema.text}, {"conversation": _COUNT})
    error = object_of({"agent": seat, "action": schema.text, "code": schema.name, "message": schema.text})
    step = {
        "actions": tuple_of([integer(0, MAX_OPTION)] * n_agents),
        "action_texts": tuple_of([schema.text] * n_agents),
        "events": tuple_of([further.event] * n_agents),
        "rewards": tuple_of([schema.number()] * n_agents),
        "messages": list_of(message),
        "errors": list_of(error),
        "tokens": tuple_of([optional(_TOKENS)] * n_agents),
    }
    optional_of_step = {name: tuple_of([check] * n_agents) for name, check in _ANSWERED.items()}
    optional_of_step["ordered"] = list_of(schema.name)  # by a message from outside the team, before the step
    optional_of_step["turn_order"] = tuple_of([seat] * n_agents)  # if it differs from the game's default
    record = {
        "team": _team_of(seats),
        "seed": integer(high=None),
        "episode": _COUNT,
        "version": schema.name,
        "task": schema.name,
        "level": optional(_COUNT),
        "max_cycles": integer(1, MAX_OPTION),
        "steps": list_of(object_of({**step, **further.step}, optional_of_step)),
        "history": tuple_of([list_of(_LOGGED)] * n_agents),
        "success": schema.boolean,
        "timesteps": _COUNT,
    }
    left_out = {**_OPTIONAL, "feedback": tuple_of([schema.text] * n_agents), **further.optional}
    return object_of({**record, **further.record}, left_out)
