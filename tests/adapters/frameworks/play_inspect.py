"""Play CollabEscape in inspect_ai with scripted models in two roles; prints outcome and metrics as JSON."""

import json
import sys

from greedy import EPISODES, SUITE, Greedy
from inspect_ai import eval as run
from inspect_ai.model import ModelOutput, ModelUsage, get_model

greedy = Greedy()
asked = {"a": 0, "b": 0}


def model(role: str):
    """Return a model that answers as greedy does; the usage is stated, as counting tokens would need the network."""

    def answer(messages, *_) -> ModelOutput:
        asked[role] += 1
        output = ModelOutput.from_content("mockllm", greedy([{"content": message.text} for message in messages]))
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model("mockllm/model", custom_outputs=answer)


options = {
    "team": "agent_0=llm:a?agent=choose agent_1=llm:b?agent=choose",
    "records": sys.argv[1],
    "episodes": EPISODES,
}
options["pictures"] = True
# Different roles are played in both seat orders; the first ten samples are those of the other frameworks.
task = f"collab_overcooked/{SUITE.replace('-', '_')}"  # found by its entry point
roles = {name: model(name) for name in asked}
settings = {"limit": EPISODES, "log_dir": sys.argv[2], "display": "none", "log_format": "json"}
log = run(task, task_args=options, model=roles["a"], model_roles=roles, **settings)[0]
assert log.status == "success", log.error
scores = {score.name: {name: m.value for name, m in score.metrics.items()} for score in log.results.scores}
infos = [event.data for event in log.samples[0].events if event.event == "info"]


def first_of_list(messages, tools, *_) -> ModelOutput:
    """Choose the first action, by a call where there are tools."""
    if tools:
        action = tools[0].parameters.properties["action"].enum[0]
        return ModelOutput.for_tool_call("mockllm", "act", {"action": action})
    answer = "A" if "answer questions about single states" in messages[0].text else None
    return ModelOutput.from_content("mockllm", json.dumps({"answer": answer} if answer else {"action": 1}))


def seen_by(task: str, team: str, **more) -> dict:
    """Return what a model gets beside text in a first sample, and the sample's values."""
    seen = []

    def answer(messages, tools, choice, config) -> ModelOutput:
        user = next(message for message in messages if message.role == "user")
        images = [] if isinstance(user.content, str) else [part for part in user.content if part.type == "image"]
        seen.append([len(images), [tool.name for tool in tools], choice, config.model_dump(exclude_none=True)])
        output = first_of_list(messages, tools)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    scripted = get_model("mockllm/model", custom_outputs=answer)
    once = {"limit": 1, "log_dir": sys.argv[2], "display": "none", "log_format": "json"}
    (log,) = run(f"collab_overcooked/{task}", task_args={"team": team, **more}, model=scripted, **once)
    assert log.status == "success", log.error
    return {"first": seen[0], "requests": len(seen), "value": log.samples[0].scores["record_metrics"].value}


extras = {
    "pictures": seen_by("collab_capture", "agent_0=llm:x?agent=choose,see=picture agent_1=greedy", episodes=1),
    "tools": seen_by("collab_capture", "agent_0=llm:x?agent=choose,channel=tools agent_1=greedy", episodes=1),
    "sampling": seen_by(
        "collab_capture", "agent_0=llm:x?agent=choose,temperature=0.5,tokens=77,top_p=0.9 agent_1=greedy", episodes=1
    ),
    "questions": seen_by("questions", "all=llm:x", games="CollabCapture-v0"),
}
print(
    json.dumps(
        {
            "samples": len(log.samples),
            "values": [sample.scores["record_metrics"].value for sample in log.samples],
            "scores": scores,
            "asked": asked,
            "extras": extras,
            "pictures": sum(isinstance(data, str) for data in infos),
        }
    )
)
