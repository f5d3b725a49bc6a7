"""inspect_ai: every suite as a task, the papers' agents as solvers, our metrics as scores.

    inspect eval collab_overcooked/collab_overcooked -T levels=1 --model openai/gpt-5
    inspect eval collab_overcooked/overcooked -T layouts=cramped_room -T "team=agent_0=llm:a agent_1=greedy" --model ...

Each sample is one match of the suite, played by a `SeatClient`: seeds, prompts, corrections, records and metrics are
those of ``collab-overcooked evaluate``. A seat ``llm:NAME`` is answered by the model with the role NAME where one is
given (``--model-role NAME=provider/model``), else by the evaluated model. Tested with inspect_ai 0.3.285.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from math import nan
from typing import Any

import anyio.to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentImage,
    ContentText,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
    get_model,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolInfo, ToolParams
from inspect_ai.util import JSONSchema, span

from collab_overcooked import __version__, registry
from collab_overcooked.adapters.results import SharedFolder, mean_metrics, request_counts, shared_folder
from collab_overcooked.adapters.seat_client import LLM, SeatClient
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.policies.llm.exchange import Reply, Request
from collab_overcooked.policies.llm.images import Picture
from collab_overcooked.policies.llm.tools import calls_text
from collab_overcooked.runner.match import Match, MatchPlan
from collab_overcooked.runner.records import key_of

ROLES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
SAMPLING = ("top_p", "reasoning_effort")  # fields of a request's body that inspect has, too
FINISH: Mapping[str, Any] = {"max_tokens": "length", "model_length": "length", "content_filter": "refused"}
RECORDS = "records"  # where a sample's records are in the store


def suite_task(suite: str) -> Any:
    """Return the inspect task of a suite."""

    @task(name=suite.replace("-", "_"))
    def played(
        team: str = "all=llm:model", seed: int = 0, records: str = "", pictures: bool = False, **options: Any
    ) -> Task:
        plan = plan_evaluation(suite, team.split(), seed=seed, **options)
        samples = [
            Sample(input=_title(match), id="/".join(map(str, match.keys[0])), metadata={"match": i})
            for i, match in enumerate(plan.matches)
        ]
        folder = shared_folder(plan, records) if records else None
        return Task(
            dataset=MemoryDataset(samples, name=suite),
            solver=play_match(plan, folder, pictures),
            scorer=record_metrics(),
            version=__version__,
        )

    return played


def _title(match: Match) -> str:
    return f"{match.env_id} {match.task}: {' '.join(match.team)}"


@solver
def play_match(plan: MatchPlan, folder: SharedFolder | None, pictures: bool = False) -> Solver:
    """Play the match of a sample; the models of inspect answer for the open seats."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        match = plan.matches[state.metadata["match"]]
        models = {seat: _model_of(spec) for seat, spec in enumerate(match.team) if spec.startswith(LLM)}
        with SeatClient(match, folder=folder, carries=("pictures", "tools")) as client:
            turn = await anyio.to_thread.run_sync(client.start)
            while not turn.done:
                async with span(f"agent_{turn.seat}", type="agent"):
                    if pictures and client.seen is not None:
                        image = Picture(client.seen.view.picture).url
                        transcript().info(f"![agent_{turn.seat}]({image})", source="collab_overcooked")
                    request = client.request
                    assert request is not None
                    state.messages = messages_of(request)
                    tools = [_tool(tool) for tool in request.tools]
                    output: ModelOutput = await models[turn.seat].generate(
                        state.messages, tools, "any" if tools else None, config_of(request)
                    )
                    state.messages.append(output.message)
                turn = await anyio.to_thread.run_sync(client.step, reply_of(output))
            state.output = output
            state.store.set(RECORDS, client.records)
            transcript().info({"metrics": dict(client.metrics), "reward": turn.reward}, source="collab_overcooked")
        state.completed = True
        return state

    return solve


def messages_of(request: Request) -> list[ChatMessage]:
    """Return the chat of a request; its pictures are in the first message of the user."""
    pictures = [ContentImage(image=picture.url) for picture in request.pictures]
    messages: list[ChatMessage] = []
    for role, text in request.turns:
        content: str | list[Any] = text
        if role == "user" and pictures:
            content, pictures = [ContentText(text=text), *pictures], []
        messages.append(ROLES[role](content=content))
    return messages


def config_of(request: Request) -> GenerateConfig:
    """Return the sampling parameters and response format of a request."""
    body = dict(request.body)
    schema = None
    if request.schema is not None:
        form = JSONSchema.model_validate(request.schema)
        schema = ResponseSchema(name="answer", json_schema=form, strict=True)
    return GenerateConfig(
        temperature=request.temperature,
        max_tokens=request.max_tokens or None,
        seed=request.seed if request.sample else None,
        response_schema=schema,
        **{name: body.pop(name) for name in SAMPLING if name in body},
        extra_body=body or None,
    )


def _tool(tool: Mapping[str, Any]) -> ToolInfo:
    return ToolInfo(
        name=tool["name"], description=tool["description"], parameters=ToolParams.model_validate(tool["parameters"])
    )


def reply_of(output: ModelOutput) -> Reply:
    """Convert a model's output to a reply, with tool calls as text and with costs."""
    calls = output.message.tool_calls or ()
    named = [(call.function, json.dumps(call.arguments)) for call in calls]
    usage = output.usage
    return Reply(
        calls_text(named) if named else output.completion,
        finish=FINISH.get(str(output.stop_reason), "stop"),
        prompt_tokens=usage.input_tokens if usage else 0,
        completion_tokens=usage.output_tokens if usage else 0,
        seconds=output.time or 0.0,
    )


def _model_of(spec: str) -> Model:
    name = spec.removeprefix(LLM).partition("?")[0]
    return get_model(role=name)


@scorer(metrics={"*": [mean(), stderr()]})
def record_metrics() -> Scorer:
    """Score a sample by its records: the outcome from 0 to 1, all numbers of the game, requests, unusable answers."""

    async def score(state: TaskState, target: Target) -> Score:
        records = state.store.get(RECORDS)
        if not records:
            return Score.unscored(reason="the sample ended before its episode")
        missing = {name: nan for record in records for name, value in record.metrics.items() if value is None}
        keys = [key_of(record) for record in records]
        value = missing | mean_metrics(records) | request_counts(records)  # every sample has every key
        return Score(value=value, metadata={"records": keys})

    return score


@cache
def suite_tasks() -> dict[str, Any]:
    """Return the tasks of all suites by name, including the suite of questions."""
    return {suite.replace("-", "_"): suite_task(suite) for suite in registry.suites()}


globals().update(suite_tasks())
