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
print(
    json.dumps(
        {
            "samples": len(log.samples),
            "values": [sample.scores["record_metrics"].value for sample in log.samples],
            "scores": scores,
            "asked": asked,
            "pictures": sum(isinstance(data, str) for data in infos),
        }
    )
)
