"""Load an exported dataset with Hugging Face's library; prints what it holds as JSON."""

import json
import sys
from pathlib import Path

from datasets import load_dataset

from collab_overcooked.cli import app
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation

folder = Path(sys.argv[1])
plan = plan_evaluation("overcooked", ["all=greedy"], layouts="cramped_room", episodes=1, options={"max_cycles": 8})
evaluate(plan, folder / "run", workers=1)
app(["export", "parquet", str(folder / "run"), "--out", str(folder / "data")], standalone_mode=False)
rows = load_dataset(str(folder / "data"), cache_dir=str(folder / "cache"))["train"]
agents = sorted(set(rows["agent"]))
print(json.dumps({"rows": len(rows), "agents": agents, "length": len(rows[0]["observation"])}))
