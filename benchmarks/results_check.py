"""Compute a random sample of the published results again, and compare it with what is kept.

    python benchmarks/results_check.py                        # two samples of each kind, minutes
    python benchmarks/results_check.py --seed 3 --samples 10  # other and more ones
    python benchmarks/results_check.py --only partners --runs runs/partners

Results of a policy that does not come with the package are computed again if its file lies below ``--runs``. Those of
other versions of the package, and those of trainings, which other processors continue differently, are counted only.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collab_overcooked import __version__
from collab_overcooked.evaluation.partner_pool import pool_names, read_partner_pool
from collab_overcooked.evaluation.partner_scores import PARTNER, PartnerScore, plan_cells, read_egos
from collab_overcooked.evaluation.partner_table import read_scores
from collab_overcooked.io.files import file_digest
from collab_overcooked.policies.policy_file import builtin_policies, policy_path, read_policy
from collab_overcooked.policies.specs import PolicySpec

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "results"
NOT_COMPUTED = ("networks.jsonl", "v2_training.jsonl", "overcooked_changes.jsonl", "train_text.csv", "plans.json")


@dataclass(frozen=True)
class Sample:
    """A result that is computed again: its name, what is kept, and the function that computes it."""

    name: str
    kept: Any
    compute: Callable[[], Any]

    def differences(self) -> list[str]:
        """Return where the kept result differs from the computed one."""
        return list(differences(self.name, self.compute(), self.kept))


def differences(place: str, computed: Any, kept: Any) -> Iterator[str]:
    """Yield the places in which a computed result, which may be a part of the kept one, differs from it."""
    if isinstance(computed, Mapping) and isinstance(kept, Mapping):
        for name, part in computed.items():
            if name not in kept:
                yield f"{place}.{name}: is not kept"
            else:
                yield from differences(f"{place}.{name}", part, kept[name])
    elif isinstance(computed, list) and isinstance(kept, list) and computed and isinstance(computed[0], Mapping):
        for k, part in enumerate(computed):
            if part not in kept:
                yield f"{place}[{k}]: {part} is not kept"
    elif computed != kept:
        yield f"{place}: is {computed}, kept is {kept}"


def one(values: Any, rng: random.Random) -> Any:
    """Return a collection with one of its entries."""
    if isinstance(values, Mapping):
        return dict([rng.choice(list(values.items()))])
    return [rng.choice(list(values))]


def one_each(values: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    """Return a mapping to collections with one entry of each."""
    return {name: one(entries, rng) for name, entries in values.items()}


# What each topic of docs/facts.py measures, and how a sample of that is chosen
MEASURED: dict[str, dict[str, Callable[[Any, random.Random], Any]]] = {
    "rush": {"BASELINES": one},
    "house": {"TEAMS": one_each, "SMALL_TEAMS": one_each},
    "craft": {"TEAMS": one, "LEVELS": one},
    "overcooked": {"TEAMS": one, "ALONE": one, "STAND_INS": one},
    "overcooked_v2": {"TEAMS": one},
    "questions": {"POLICIES": one, "GAMES": one},
    "cuisineworld_results": {"BASELINES": one, "SIZES": one, "LEVELS": one},
}


def measurements(rng: random.Random, count: int) -> Iterator[Sample]:
    """Yield samples of the measurements of ``docs/facts.py``."""
    sys.path[:0] = [str(ROOT / "docs"), str(ROOT)]
    writing = importlib.import_module("topics.writing")
    for name in rng.sample(sorted(MEASURED), min(count, len(MEASURED))):
        topic: Any = importlib.import_module(f"topics.{name}")
        chosen = {constant: choose(getattr(topic, constant), rng) for constant, choose in MEASURED[name].items()}

        def measure(topic: Any = topic, chosen: Mapping[str, Any] = chosen) -> Any:
            before = {constant: getattr(topic, constant) for constant in chosen}
            with tempfile.TemporaryDirectory() as folder:
                writing.RESULTS = Path(folder)
                try:
                    for constant, value in chosen.items():
                        setattr(topic, constant, value)
                    topic.measure()
                finally:
                    writing.RESULTS = RESULTS
                    for constant, value in before.items():
                        setattr(topic, constant, value)
                return json.loads((Path(folder) / topic.RESULT_FILE).read_text("utf-8"))

        title = f"{topic.RESULT_FILE} ({', '.join(f'{key.lower()} {value}' for key, value in chosen.items())})"
        yield Sample(title, json.loads((RESULTS / topic.RESULT_FILE).read_text("utf-8")), measure)


def baselines(rng: random.Random, count: int) -> Iterator[Sample]:
    """Yield scores of built-in policies with themselves."""
    results = json.loads((RESULTS / "baselines.json").read_text("utf-8"))
    training = importlib.import_module("train_results")
    shipped = [name for name in sorted(results) if name in builtin_policies()]
    for name in rng.sample(shipped, min(count, len(shipped))):
        what = training.published().get(name, {"measure": "return"})["measure"]
        seed = training.median_seed(results[name], what)
        kept = {mode: results[name][seed][mode] for mode in training.MODES}

        def measure(name: str = name) -> Any:
            measured = training.measure([read_policy(policy_path(name))])
            return {mode: measured[mode] for mode in training.MODES}

        yield Sample(f"baselines.json: {name}, seed {seed}", kept, measure)


def partner_lines(rng: random.Random, count: int, runs: Path, skipped: Counter[str]) -> Iterator[Sample]:
    """Yield lines of scores beside partners never met."""
    files = {file_digest(path): path for path in sorted(runs.rglob("policy*.npz"))} if runs.is_dir() else {}
    for pool in pool_names():
        path = RESULTS / f"partners_{pool}.jsonl"
        known: list[tuple[PartnerScore, str]] = []
        for line in read_scores([path]) if path.exists() else ():
            here = ego_of(line, files)
            if line.version != __version__:
                skipped[f"{path.name}: lines of version {line.version}"] += 1
            elif line.kind == PARTNER and here is not None:
                known.append((line, here))
            else:
                skipped[f"{path.name}: lines of networks that are not at hand, or of egos with themselves"] += 1
        for line, spec in rng.sample(known, min(count, len(known))):

            def play(line: PartnerScore = line, spec: str = spec, pool: str = pool) -> Any:
                read = read_partner_pool(pool)
                egos = read_egos([f"{line.method}={spec}"])
                cells = plan_cells(read, egos, [read.partner(line.partner)], len(line.returns), among=False)
                return next(returns for cell in cells for tag, returns in cell.run() if tag.seat == line.seat)

            yield Sample(f"{path.name}: {line.ego} beside {line.partner}, seat {line.seat}", line.returns, play)


def ego_of(line: PartnerScore, files: Mapping[str, Path]) -> str | None:
    """Return the spec of a line's ego if it can be played, with a file of the digest that the line names."""
    if line.sha256 in files:
        return f"ppo:{files[line.sha256]}" + (f",{line.mode}" if line.mode else "")
    spec = PolicySpec.parse(line.ego)
    is_builtin = line.ego.removeprefix("ppo:") in builtin_policies()
    if line.sha256:
        return line.ego if is_builtin and file_digest(spec.paths[0]) == line.sha256 else None
    return line.ego


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the samples that were asked for; the exit code is 1 if one differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = ("measurements", "baselines", "partners")
    parser.add_argument("--only", nargs="+", choices=kinds, default=kinds, help="kinds of results; default: all")
    parser.add_argument("--samples", type=int, default=2, help="of each kind, and of each pool of partners")
    parser.add_argument("--seed", type=int, default=0, help="of the choice")
    parser.add_argument(
        "--runs", type=Path, default=ROOT / "runs", help="folder of trainings with policies that are not shipped"
    )
    options = parser.parse_args(arguments)
    if options.samples < 1:
        parser.error(f"--samples must be at least 1, not {options.samples}")
    rng, skipped = random.Random(options.seed), Counter[str]()
    samples: dict[str, Callable[[], Iterator[Sample]]] = {
        "measurements": lambda: measurements(rng, options.samples),
        "baselines": lambda: baselines(rng, options.samples),
        "partners": lambda: partner_lines(rng, options.samples, options.runs, skipped),
    }
    different = checked = 0
    for kind in options.only:
        for sample in samples[kind]():
            wrong = sample.differences()
            checked += 1
            different += bool(wrong)
            print(f"{'different' if wrong else 'equal'}: {sample.name}", *wrong, sep="\n  ", flush=True)
    for reason, lines in skipped.items():
        print(f"not computed: {reason}, {lines}")
    print(f"not computed: trainings ({', '.join(NOT_COMPUTED)})")
    print(f"{checked} checked, {different} different")
    return int(different > 0)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(main())
