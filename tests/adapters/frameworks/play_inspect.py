"""Play collab-capture in inspect_ai with a scripted model; prints outcome and metrics as JSON."""

import json
import sys

from inspect_ai import eval as run
from inspect_ai.model import ModelOutput, ModelUsage, get_model


def answer(*_) -> ModelOutput:
    """Choose the first action; the usage is stated, as counting tokens would need the network."""
    output = ModelOutput.from_content("mockllm", '{"action": 1}')
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


model = get_model("mockllm/model", custom_outputs=answer)
options = {"team": "agent_0=llm:model?agent=choose agent_1=greedy", "records": sys.argv[1], "episodes": 1}
task = "collab_overcooked/collab_capture"  # found by its entry point
log = run(task, task_args=options, model=model, log_dir=sys.argv[2], display="none", log_format="json")[0]
assert log.status == "success", log.error
scores = {score.name: {name: m.value for name, m in score.metrics.items()} for score in log.results.scores}
print(
    json.dumps({"samples": len(log.samples), "values": log.samples[0].scores["record_metrics"].value, "scores": scores})
)
