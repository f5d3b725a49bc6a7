"""Play CollabEscape with ``vf-eval`` at a scripted endpoint: self-play, then a mixed team; prints traces as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from greedy import ALL, EPISODES, ONE, SUITE, Greedy
from support.endpoints import serving

greedy = Greedy()
folder = Path(sys.argv[1])


def run(name: str, team: str, *arguments: str) -> list[dict]:
    """Evaluate a team; returns seat, model, rewards and whether it is trained on, per trace."""
    with serving(lambda asked: greedy(asked["messages"])) as server:
        command = [
            *(Path(sys.executable).with_name("vf-eval"), "collab-kitchens", "-m", "scripted", "--no-push", "--no-rich"),
            *("--client.base-url", server.url, "--client.api-key-var", "LOCAL_KEY", "-c", "2"),
            *("--env.taskset.suite", SUITE, "--env.taskset.team", team),
            *("--env.taskset.options", json.dumps({"episodes": EPISODES})),
            *("-o", folder, "--run.name", name, *arguments),
        ]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    traces = []
    for line in (folder / name / "traces.jsonl").read_text().splitlines():
        episode = json.loads(line)
        for trace in episode.get("traces", [episode]):
            assert not trace.get("errors"), trace["errors"]
            rewards = {key: reward["score"] for key, reward in trace["rewards"].items()}
            agent = trace["agent"]
            traces.append({"seat": agent["name"], "trained": agent["trainable"], "rewards": rewards})
            traces[-1] |= {"metrics": trace["metrics"], "model": agent["config"]["model"]}
    return traces


print(
    json.dumps(
        {
            "self_play": run("self", ALL, "--env.records", str(folder / "records")),
            "inside": run("inside", ONE, "-n", "1"),
            "fixed": run("fixed", ALL, "-n", "1", "--env.agent-1.model", "other"),
        }
    )
)
