"""Facts about training: settings of each kind, configurations, and what the built-in policies reach."""

from __future__ import annotations

import inspect
import json
import runpy
from collections import defaultdict

from collab_overcooked import __version__
from collab_overcooked.baselines.settings import TrainingSettings, algorithm_of, read_config, shipped_configs
from collab_overcooked.policies.policy_file import builtin_policies, policy_path, read_policy

from .writing import RESULTS, code, field_comments, listing, table


def training_settings() -> str:
    """List what a training by PPO can be told."""
    comments = field_comments(TrainingSettings)
    rows = []
    for name, parameter in inspect.signature(TrainingSettings).parameters.items():
        required, made = parameter.default is parameter.empty, "factory" in repr(parameter.default)
        rows.append(
            (code(name), "required" if required else code("{}" if made else repr(parameter.default)), comments[name])
        )
    return listing(rows)


def training_configs() -> str:
    """List the built-in configurations."""
    rows = []
    for name in shipped_configs():
        values = read_config(name)
        options = ", ".join(f"{key} {value}" for key, value in values["options"].items())
        masks = "yes" if values.get("masks", True) else "no"
        rows.append((code(name), algorithm_of(name), masks, values["env"], options, f"{values['steps']:,}"))
    return table(("configuration", "algorithm", "masks", "environment", "options", "steps"), rows)


def training_results() -> str:
    """Return the results table, as `benchmarks/train_results.py` prints it."""
    results = json.loads((RESULTS / "baselines.json").read_text("utf-8"))
    text: str = runpy.run_path(str(RESULTS.parents[1] / "benchmarks" / "train_results.py"))["table"](results)
    return text.rstrip()


def network_results() -> str:
    """Return what policies of different networks earn, as `make network-results` prints it."""
    lines = [json.loads(line) for line in (RESULTS / "networks.jsonl").read_text("utf-8").splitlines()]
    text: str = runpy.run_path(str(RESULTS.parents[1] / "benchmarks" / "network_results.py"))["table"](lines)
    return text


def v2_training_results() -> str:
    """Return the table of baselines with memory in OvercookedV2."""
    lines = [json.loads(line) for line in (RESULTS / "v2_training.jsonl").read_text("utf-8").splitlines()]
    text: str = runpy.run_path(str(RESULTS.parents[1] / "benchmarks" / "v2_results.py"))["table"](lines)
    return text


def marked(command: str, version: str) -> str:
    """Return the command of a training, with the version of the package if it is not the present one."""
    return code(command) + ("" if version == __version__ else f" (version {version})")


def trained_policies() -> str:
    """List the policies that come with the package, and the number of trainings that each is the median of."""
    results = json.loads((RESULTS / "baselines.json").read_text("utf-8"))
    rows: list[tuple[str, ...]] = []
    proxies: dict[tuple[str, str], list[tuple[str, ...]]] = defaultdict(list)
    for name in builtin_policies():
        path = policy_path(name)
        meta = read_policy(path).meta
        score = meta["score"]
        reached = "beside its partner: see the game's page"
        if score is not None:
            reached = f"{score['success']:.3f} success" if "success" in score else f"{score['return']:.1f}"
        kilobytes = f"{path.stat().st_size / 1000:.0f} kB"
        command = meta["command"].removeprefix("collab-overcooked ")
        version = meta.get("version", "before 1.1.0")  # which files did not tell
        kind, proxy, layout = name.rpartition("bc_")
        if proxy:  # one row for the proxies of all layouts
            template = f"{kind}bc_LAYOUT", marked(command.replace(layout, "LAYOUT"), version)
            proxies[template].append((layout, f"{meta['steps']:,}", reached, kilobytes))
        else:
            seeds = str(len(results.get(name, {})) or 1)
            rows.append(
                (code(f"ppo:{name}"), marked(command, version), seeds, f"{meta['steps']:,}", reached, kilobytes)
            )
    for (name, command), members in proxies.items():
        columns = zip(*members, strict=True)
        names, steps, scores, sizes = (", ".join(c if len({*c}) > 1 else c[:1]) for c in columns)
        rows.append((f"{code(f'ppo:{name}')}: {names}", command, "1", steps, scores, sizes))
    return table(("policy", "training", "seeds", "steps", "mean of 100 games", "size"), rows)


FACTS = (training_settings, training_configs, training_results, network_results, v2_training_results, trained_policies)
