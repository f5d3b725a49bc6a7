"""Mutated files that runs leave behind: exchanges, policies, populations and tables of games are read or refused."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attacks.mutations import mutate
from support.policies_of_chance import a_policy

from collab_overcooked.baselines.human_games import NEEDED, read_rows
from collab_overcooked.baselines.pbt import PbtSettings, read_state, start
from collab_overcooked.baselines.settings import TrainingSettings
from collab_overcooked.policies.llm.exchange import ChatMessage, Reply, Request
from collab_overcooked.policies.llm.store import Store
from collab_overcooked.policies.policy_file import META, PolicyFile, choose, read_policy
from collab_overcooked.registry import load_game

pytestmark = pytest.mark.attacks

MUTATIONS = 25  # of each kind and seed
GAME = load_game("CuisineWorld-v0", level="level_1", agents=2)
ASKED = Request("m", (ChatMessage("user", "hello"),))


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Return bytes with some of them replaced, removed, repeated or cut off."""
    content = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        at = rng.randrange(len(content) + 1)
        content[at : at + rng.randrange(3)] = rng.randbytes(rng.randrange(3))
        if rng.random() < 0.05:
            del content[at:]
    return bytes(content)


def dumped(rng: random.Random, document: Any) -> bytes:
    try:
        data = json.dumps(mutate(rng, document, [document])).encode()
    except ValueError:  # numbers of more digits than Python writes
        data = b"9" * 5000
    return damaged(rng, data) if rng.random() < 0.2 else data


def test_mutated_stores_are_used_or_refused(attack_seed, tmp_path):
    rng = random.Random(f"store{attack_seed}")
    path, refused = tmp_path / "store.jsonl", 0
    Store(path).put(ASKED, Reply("yes", prompt_tokens=3, completion_tokens=5))
    document = json.loads(path.read_text())
    for number in range(MUTATIONS):
        path.write_bytes(dumped(rng, document) + rng.choice((b"\n", b"\n", b"\n", b"")))
        try:
            store = Store(path)
        except ValueError as error:
            assert str(error).startswith(f"{path}, line ")
            refused += 1
            continue
        kept, other = store.get(ASKED), replace(ASKED, model=f"m{number}")
        assert kept is None or (isinstance(kept.text, str) and type(kept.completion_tokens) is int)
        store.put(other, kept or Reply("no"))  # what was read can be written, and read once more
        assert Store(path).get(other) == (kept or Reply("no"))
    assert refused


def policy_data(rng: random.Random, good: Path) -> bytes:
    """Return a policy file with a mutated description, an array of another form, or damaged bytes."""
    if rng.random() < 0.3:
        return damaged(rng, good.read_bytes())
    with np.load(good) as file:
        arrays = dict(file.items())
    if rng.random() < 0.6:
        arrays[META] = np.array(dumped(rng, json.loads(str(arrays[META]))).decode("utf-8", "replace"))
    else:
        name = rng.choice(sorted(arrays))
        forms = [
            *(lambda a: a.T, lambda a: a[None], lambda a: a.reshape(-1)[:0], lambda a: a.astype("U4")),
            *(lambda a: np.zeros(a.shape, complex), lambda a: np.zeros(a.shape, bool)),
            *(lambda a: np.full(a.shape, np.nan), lambda a: np.zeros(3, [("a", "f4")])),
            *(lambda a: np.zeros((3000, 1, 1, 1)), lambda a: np.array([object()])),
        ]
        arrays[name] = rng.choice(forms)(arrays[name])
    path = good.with_name("mutated.npz")
    np.savez(path, **arrays)
    return path.read_bytes()


@pytest.mark.parametrize("memory", [0, 4])
def test_mutated_policies_play_or_are_refused(attack_seed, tmp_path, memory):
    rng = random.Random(f"policy{attack_seed}")
    good, path, refused = tmp_path / "good.npz", tmp_path / "policy.npz", 0
    a_policy(GAME, attack_seed, memory).save(good)
    for _ in range(MUTATIONS):
        path.write_bytes(policy_data(rng, good))
        try:
            file = read_policy(path)
        except ValueError as error:
            assert str(error).startswith(f"{path}: ")
            refused += 1
            continue
        observations, masks = np.ones((2, *file.meta["observation_shape"])), np.ones((2, file.meta["n_actions"]))
        logits = file.network.logits(observations)
        assert ((actions := choose(logits, masks, np.random.default_rng(0), "sample")) >= 0).all()
        assert (actions < file.meta["n_actions"]).all()
        file.save(path)
        assert read_policy(path).meta == file.meta
    assert refused


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e6])
def test_policies_that_could_not_be_read_are_not_written(tmp_path, value):
    file = a_policy(GAME)
    kind, weight, bias = file.network.layers[0]
    layers = ((kind, weight * value, bias), *file.network.layers[1:])
    path = tmp_path / "policy.npz"
    with pytest.raises(ValueError, match="weight_0 holds numbers that are not finite"):
        PolicyFile(replace(file.network, layers=layers), file.meta).save(path)
    with pytest.raises(ValueError, match=r"policy\.npz: is not a policy file: .*NaN"):
        PolicyFile(file.network, {**file.meta, "score": {"mean": value * np.nan}}).save(path)
    assert not path.exists()


def test_mutated_populations_are_read_or_refused(attack_seed, tmp_path):
    rng = random.Random(f"population{attack_seed}")
    path, refused = tmp_path / "population.json", 0
    settings = TrainingSettings("CuisineWorld-v0", 480, options={"level": "level_1", "agents": 2})
    state = json.loads(json.dumps(start(PbtSettings(population=2), settings)))
    path.write_text(json.dumps(state))
    assert read_state(path, 2) == state
    for _ in range(MUTATIONS):
        path.write_bytes(dumped(rng, state))
        try:
            result = read_state(path, 2)
        except ValueError as error:
            assert str(error).startswith(f"{path}: ")
            refused += 1
            continue
        assert len(result["members"]) == len(result["parents"]) == 2
    assert refused


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl"])
def test_damaged_tables_of_human_games_are_read_or_refused(attack_seed, tmp_path, ending):
    rng, path, refused = random.Random(f"table{attack_seed}"), tmp_path / f"table.{ending}", 0
    row = json.dumps(dict.fromkeys(NEEDED, "x"))
    good = {"csv": ",".join(NEEDED) + "\na,b,c,d\n" * 2, "json": f"[{row},{row}]", "jsonl": f"{row}\n" * 2}[ending]
    for _ in range(MUTATIONS):
        path.write_bytes(damaged(rng, good.encode()))
        try:
            rows = read_rows(path)
        except ValueError as error:
            assert str(path) in str(error)
            refused += 1
            continue
        assert all(name in row for name in NEEDED for row in rows)
    assert refused
