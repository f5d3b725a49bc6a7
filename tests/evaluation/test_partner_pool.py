"""Pools of partners: what is in the file is what is met, and every mistake in one is named in one line."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from collab_overcooked.cli.app import app
from collab_overcooked.evaluation.partner_pool import (
    Best,
    PartnerPool,
    check_players,
    make_partner,
    pool_names,
    read_partner_pool,
    write_partner_pool,
)
from collab_overcooked.io.files import file_digest
from collab_overcooked.policies.policy_file import Met, policy_path, read_policy, with_met

TEST_PARTNERS = {  # number of test partners, and how many of them are the greedy policy, changed or cloned
    "asymmetric_advantages": (5, 2),
    "collab_escape": (17, 5),
    "coordination_ring": (20, 6),
    "counter_circuit": (14, 4),
    "cramped_room": (14, 4),
    "cuisineworld_level_1": (15, 4),
    "forced_coordination": (16, 6),
    "kitchen_rush": (10, 4),
    "small_corridor": (8, 3),
}
WEIGHTS = policy_path("cramped_room")
OPTIONS = {"layout": "cramped_room", "obs": "features"}


@pytest.fixture
def pool(tmp_path: Path) -> PartnerPool:
    """A pool in a folder of its own, with a policy file beside it."""
    (tmp_path / "members").mkdir()
    shutil.copy(WEIGHTS, tmp_path / "members" / "first.npz")
    partners = (
        make_partner(
            "first", "ppo:members/first.npz", "selfplay", tmp_path, split="train", best=Best(9, 8, 10, "greedy", 5)
        ),
        make_partner("greedy", "greedy", "scripted", tmp_path, lower=3.5),
        make_partner("last", "random", "scripted", tmp_path, seat=1),
    )
    return PartnerPool("pool", "Overcooked-v0", OPTIONS, partners, "Three", 4, 7, tmp_path)


def test_what_is_written_is_read(pool, tmp_path):
    write_partner_pool(tmp_path / "pool.yaml", pool)
    read = read_partner_pool(tmp_path / "pool.yaml")
    assert read == pool and read.digest == pool.digest
    assert read.spec(read.partners[0]) == f"ppo:{tmp_path}/members/first.npz"
    assert read.partners[0].sha256 == file_digest(WEIGHTS)
    assert [read.seats(partner) for partner in read.partners] == [(0, 1), (0, 1), (0,)]
    assert read.team(read.partners[2], "ego", 0) == ("ego", "random")
    assert [one.name for one in read.select("train")] == ["first"]
    check_players(read)


def test_the_digest_is_of_what_is_played(pool):
    """Measured best responses do not make another pool; another seed or partner does."""
    measured = tuple(replace(partner, best=Best(1, 1, 1, "mcts", 2), lower=0.0) for partner in pool.partners)
    assert replace(pool, partners=measured).digest == pool.digest
    others = [replace(pool, seed=8), replace(pool, episodes=5), replace(pool, partners=pool.partners[:2])]
    assert len({pool.digest, *(other.digest for other in others)}) == 4


@pytest.mark.parametrize("name", pool_names())
def test_built_in_pools_can_be_played(name):
    pool = read_partner_pool(name)
    check_players(pool)
    test = pool.select("test")
    clones = ("ppo:bc_", "ppo:ppo_bc_")
    derived = [one.name for one in test if one.policy.startswith(clones) or "greedy" in one.policy.split(":")]
    derived += [one.name for one in test if one.family == "noisy"]  # of the greedy policy
    assert (len(test), len(derived)) == TEST_PARTNERS[name] and len(derived) <= 0.4 * len(test), derived
    assert pool.select("train") and pool.select("validation")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v["partners"][0].update(policy="ppo:members/other.npz"), r"partner 'first': .*other.npz: cannot be"),
        (lambda v: v["partners"][0].update(sha256="0" * 64), r"line \d+: partner 'first': .*the pool says 0000"),
        (lambda v: v["partners"][0].pop("sha256"), r"says none.*write sha256: [0-9a-f]{64}"),
        (lambda v: v["partners"][1].update(sha256="0" * 64), r"partner 'greedy': greedy has SHA-256 no file"),
        (lambda v: v["partners"][1].update(name="first"), r"line \d+: name 'first' is given to two partners"),
        (lambda v: v["partners"][1].update(seat=2), r"seat must be any or an integer from 0 to 1, not 2"),
        (lambda v: v["partners"][1].update(policy="greedi"), r"unknown policy 'greedi'; did you mean greedy"),
        (lambda v: v["partners"][1].update(family="robot"), r"partners.1.family must be one of selfplay"),
        (lambda v: v["partners"][1].update(split="train"), r"family scripted is for validation and test"),
        (
            lambda v: v["partners"][0]["best"].update(sha256="1" * 64),
            r"line \d+: partner 'first': best was measured beside another file, with SHA-256 1{12}\.\.\.; measure",
        ),
        (lambda v: v["partners"][0]["best"].update(low=9.5), r"from 9.5 to 10 does not hold the return 9"),
        (lambda v: v["partners"][0].update(weight=3), r"unknown key 'weight'"),
        (lambda v: v["options"].update(layout="coordination_ring"), r"the pool is for layout='coord"),
        (lambda v: v["options"].update(layout="cramped"), r"options: unknown layout 'cramped'"),
        (lambda v: v.update(env="Overcooked-v9"), r"Overcooked-v9.*did you mean"),
        (lambda v: v.update(partners=[]), r"partners must be a list of partners"),
        (lambda v: v.update(episodes=0), r"episodes must be an integer of at least 1, not 0"),
    ],
)  # fmt: skip
def test_a_wrong_pool_gets_one_line(pool, tmp_path, capsys, change, message):
    path = tmp_path / "pool.yaml"
    write_partner_pool(path, pool)
    values = yaml.safe_load(path.read_text())
    change(values)
    path.write_text(yaml.safe_dump(values))
    with pytest.raises(ValueError, match=rf"(?s)pool\.yaml.*{message}"):
        read_partner_pool(path)
    with pytest.raises(SystemExit) as exit_:
        app(["partners", "check", str(path)])
    assert exit_.value.code == 2 and len(capsys.readouterr().err.strip().splitlines()) == 1


def test_a_wrong_pool_is_not_written(pool, tmp_path):
    path = tmp_path / "pool.yaml"
    write_partner_pool(path, pool)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="two partners"):
        write_partner_pool(path, replace(pool, partners=pool.partners[:1] * 2))
    assert path.read_bytes() == before


def test_a_partner_of_another_variant_is_refused(pool, tmp_path):
    """The network takes features, this environment has pictures of another shape; the policy observes by itself."""
    check_players(replace(pool, env_kwargs={"layout": "cramped_room"}))
    with pytest.raises(ValueError, match=r"partner 'first' cannot play Overcooked-v0: .*another variant"):
        check_players(replace(pool, env_kwargs=OPTIONS | {"agents": 3}))


def test_a_policy_file_says_what_it_met(pool, tmp_path):
    file = with_met(read_policy(WEIGHTS), [partner.met for partner in pool.partners[:2]])
    file.save(tmp_path / "ego.npz")
    read = read_policy(tmp_path / "ego.npz")
    assert read.met == (Met("first", file_digest(WEIGHTS), "selfplay"), Met("greedy", "", "scripted"))
    assert with_met(read, read.met).met == read.met
    assert pool.met_by(read, file_digest(tmp_path / "ego.npz")) == ["first", "greedy"]


def test_a_policy_has_met_itself(pool):
    assert read_policy(WEIGHTS).met == ()
    assert pool.met_by(read_policy(WEIGHTS), file_digest(WEIGHTS)) == ["first"]


@pytest.mark.parametrize(
    ("met", "message"),
    [
        ([{"policy": "a", "sha256": "abc", "family": "selfplay"}], r"met\[0\]: sha256 must be a SHA-256"),
        ([{"policy": "a", "sha256": "", "family": "robot"}], r"met\[0\].family must be .* not 'robot'"),
        ([{"policy": "a", "family": "selfplay"}], r"met\[0\].sha256 is missing"),
        ("all", r"met must be a list"),
    ],
)
def test_a_policy_file_with_a_wrong_list_of_partners_is_refused(tmp_path, met, message):
    file = read_policy(WEIGHTS)
    with pytest.raises(ValueError, match=message):
        replace(file, meta={**file.meta, "met": met}).save(tmp_path / "ego.npz")
