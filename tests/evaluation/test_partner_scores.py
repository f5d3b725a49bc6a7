"""Scores beside partners: the right seats, the right games, nobody whom the ego has met, and runs that continue."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from collab_overcooked import __version__
from collab_overcooked.cli.app import app
from collab_overcooked.evaluation.partner_pool import (
    Best,
    PartnerPool,
    make_partner,
    read_partner_pool,
    write_partner_pool,
)
from collab_overcooked.evaluation.partner_scores import (
    FILE,
    ITSELF,
    UNSEEN_FAMILY,
    UNSEEN_MEMBER,
    PartnerScore,
    best_responses,
    find_best_responses,
    plan_cells,
    read_egos,
    score,
)
from collab_overcooked.metrics.intervals import mean_ci
from collab_overcooked.metrics.registry import measure
from collab_overcooked.policies.policy_file import Met, policy_path, read_policy, with_met
from collab_overcooked.policies.specs import PolicySpec
from collab_overcooked.registry import make
from collab_overcooked.runner import batched
from collab_overcooked.runner.episode import derive_seed, play_episode
from collab_overcooked.runner.teams import make_team

OPTIONS = {"layout": "cramped_room", "obs": "features", "max_cycles": 12}


@pytest.fixture
def pool() -> PartnerPool:
    partners = (
        make_partner("clone", "ppo:bc_cramped_room", "clone"),
        make_partner("greedy", "greedy", "scripted"),
        make_partner("second", "random", "scripted", seat=1),
        make_partner("trained", "ppo:pbt_cramped_room", "population", split="train"),
    )
    return PartnerPool("pool", "Overcooked-v0", OPTIONS, partners, episodes=2, seed=5)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Two seeds of a method; the second has met a clone that is not in the pool."""
    folder = tmp_path / "egos"
    folder.mkdir()
    shutil.copy(policy_path("cramped_room"), folder / "a.npz")
    with_met(read_policy(policy_path("cramped_room")), [Met("other", "1" * 64, "clone")]).save(folder / "b.npz")
    return folder


def test_every_partner_is_met_in_every_seat_and_every_seed_by_the_others(pool, files):
    egos = read_egos([f"sp={files}/*.npz", "greedy"])
    cells = list(plan_cells(pool, egos, pool.select("test"), 2))
    lines = [cell.tag for cell in cells]
    a, b = (f"ppo:{files}/{name}.npz" for name in "ab")
    with_partners = [(line.method, line.partner, line.seat) for line in lines if line.kind == "partner"]
    seats = [("clone", 0), ("clone", 1), ("greedy", 0), ("greedy", 1), ("second", 0)]
    assert with_partners == [(method, *seat) for method in ("sp", "sp", "greedy") for seat in seats]
    assert {cell.matches[0].team for cell in cells if cell.tag.kind == "cross"} == {(a, b), (b, a)}
    assert {cell.matches[0].team for cell in cells if cell.tag.kind == "self"} == {(a, a), (b, b), ("greedy", "greedy")}
    seen = {(line.ego, line.partner): line.seen for line in lines if line.kind == "partner"}
    assert seen[a, "clone"] == seen[b, "greedy"] == UNSEEN_FAMILY
    assert seen[b, "clone"] == UNSEEN_MEMBER and seen["greedy", "greedy"] == ITSELF


def test_returns_are_those_of_episodes(pool, files, tmp_path):
    """Programs play the episodes of the seeds of the pool; networks play as many, at once, from the same starts."""
    egos = read_egos(["greedy"])
    line = score(pool, egos, tmp_path / "out", families=["scripted"])[2]
    assert (line.partner, line.seat) == ("second", 0)
    env = make("Overcooked-v0", **OPTIONS)
    played = [play_episode(env, make_team(["greedy", "random"]), derive_seed(5, "partner", k)) for k in range(2)]
    assert line.returns == [measure(record, ["return"])["return"] for record in played]
    networks = next(plan_cells(pool, read_egos(["ppo:cramped_room"]), pool.partners, 64, among=False))
    options = OPTIONS | {"max_cycles": 150}
    networks = replace(networks, matches=tuple(replace(match, env_kwargs=options) for match in networks.matches))
    alone = networks.run()[0][1]
    env = make("Overcooked-v0", **options)
    team = make_team(networks.matches[0].team)
    one_by_one = [
        measure(play_episode(env, team, derive_seed(5, "partner", k)), ["return"])["return"] for k in range(12)
    ]
    assert len(alone) == 64 and abs(np.mean(alone) - np.mean(one_by_one)) < 25 and np.mean(alone) > 20


def test_networks_with_another_encoding_play_at_once(pool, monkeypatch):
    """Each network sees the observations of its own training, whatever the pool's environment has."""
    options = {"layout": "cramped_room", "max_cycles": 150}  # pictures
    pools = [replace(pool, env_kwargs=options), replace(pool, env_kwargs=options | {"obs": "features"})]
    cell, same = (next(plan_cells(one, read_egos(["ppo:cramped_room"]), one.partners, 64, False)) for one in pools)
    monkeypatch.setattr(batched, "play_episode", None)  # would be used one by one
    assert cell.run()[0][1] == same.run()[0][1]


def test_an_interrupted_evaluation_is_continued_and_extended(pool, files, tmp_path, monkeypatch, caplog):
    egos, out = read_egos([f"sp={files}/*.npz"]), tmp_path / "out"
    full = score(pool, egos, tmp_path / "whole")
    first = (tmp_path / "whole" / FILE).read_bytes().splitlines(keepends=True)
    score(pool, egos[:1], out, families=["clone"])
    assert [line for line in (out / FILE).read_bytes().splitlines(keepends=True) if line in first[:2]] == first[:2]
    with (out / FILE).open("ab") as file:
        file.write(first[2][:40])  # as it was written when the process was killed
    assert score(pool, egos, out) == full
    assert "continuing, 3 cells" in " ".join(caplog.messages)
    assert sorted((out / FILE).read_bytes().splitlines(keepends=True)) == sorted(first)
    with pytest.raises(ValueError, match="holds a run with another configuration: episodes was 2, now 3"):
        score(pool, egos, out, episodes=3)


CODE = """
from collab_overcooked.policies.api import PolicyBase

class Still(PolicyBase):
    name = "still"

    def reset(self, seat, info, seed):
        pass

    def act(self, seen):
        return seen.idle_action
"""


def test_egos_with_code_of_their_own_are_added_and_played_again_when_it_changes(pool, tmp_path):
    out, file = tmp_path / "out", tmp_path / "mine.py"
    file.write_text(CODE)
    spec = PolicySpec.parse(f"{file}:Still").permit().text
    known = score(pool, read_egos(["greedy"]), out, families=["clone"])
    added = score(pool, read_egos([spec]), out, families=["clone"])
    assert len(added) == len(known) and added[0].sha256 and not known[0].sha256
    file.write_text(CODE + "# another policy\n")
    changed = score(pool, read_egos([spec]), out, families=["clone"])
    assert {line.key for line in changed}.isdisjoint(line.key for line in added)


def test_too_many_episodes_are_refused_before_they_are_planned(pool, tmp_path):
    with pytest.raises(ValueError, match=r"this is 2,333,331 episodes in all, allowed are 1,000,000"):
        score(pool, read_egos(["greedy"]), tmp_path, episodes=333_333)


def test_an_ego_that_met_a_partner_is_skipped(pool, files, tmp_path, caplog):
    with_met(read_policy(files / "a.npz"), [pool.partners[0].met]).save(files / "a.npz")
    egos = read_egos([f"sp={files}/*.npz"])
    lines = score(pool, egos, tmp_path / "out")
    assert {line.ego for line in lines} == {f"ppo:{files}/b.npz"}
    assert caplog.messages[0].startswith(f"skipped ego sp: ppo:{files}/a.npz was trained beside clone of pool pool")
    with pytest.raises(ValueError, match=r"ego sp: ppo:.*a\.npz was trained beside clone of pool pool"):
        score(pool, egos[:1], tmp_path / "alone")
    trained = replace(pool, partners=tuple(replace(one, split="train") for one in pool.partners))
    with pytest.raises(
        ValueError, match=r"no partner of split test .* it has clone of split train.*; choose with --split"
    ):
        score(trained, egos, tmp_path / "split")
    assert len(score(pool, egos, tmp_path / "other", families=["scripted"])) == 12  # it did not meet these
    with pytest.raises(ValueError, match=r"trained beside trained of pool pool, or is the same file"):
        score(pool, read_egos(["ppo:pbt_cramped_room"]), tmp_path / "third", split=None)


def best_line(pool: PartnerPool, partner: str, method: str, returns: list[float]) -> PartnerScore:
    template = next(plan_cells(pool, read_egos(["greedy"]), pool.partners, 1, False, "best")).tag
    return structs.replace(template, partner=partner, method=method, ego=method, returns=returns)


def test_best_responses_are_chosen_by_half_of_the_games_and_measured_by_the_others(pool):
    line = partial(best_line, pool)
    known = (replace(pool.partners[0], best=Best(9, 9, 9, "old", 1)), *pool.partners[1:])
    lines = [line("clone", "random", [1, 3]), line("clone", "greedy", [80, 3]), line("greedy", "random", [50, 50])]
    lines += [line("greedy", "greedy", [9, 1]), line("greedy", "greedy", [5, 3]), line("greedy", "mcts", [6, 80])]
    scored = structs.replace(line("greedy", "mcts", [1000, 1000]), kind="partner")
    result = best_responses(replace(pool, partners=known), [*lines, scored])
    assert (result[0].best, result[0].lower) == (known[0].best, 2)  # what is known already is better
    assert (result[1].best.value, result[1].best.by, result[1].best.games, result[1].lower) == (2, "greedy", 2, 50)
    assert result[1].best.low <= 2 <= result[1].best.high and result[2].best is None
    assert (result[1].best.version, result[1].best.sha256) == (__version__, pool.partners[1].sha256)


@pytest.mark.parametrize(("stored", "best"), [(5.0, "old"), (3.0, "lucky")])
def test_a_best_response_is_replaced_by_one_that_is_measured_to_be_better(pool, stored, best):
    """The half that chooses says nothing about what is known already: lucky has 9 there, and 4 in the other half."""
    known = (replace(pool.partners[0], best=Best(stored, stored, stored, "old", 1)), *pool.partners[1:])
    lines = [best_line(pool, "clone", "lucky", [9, 4]), best_line(pool, "clone", "other", [8, 7])]
    assert best_responses(replace(pool, partners=known), lines)[0].best.by == best


def test_the_games_of_best_responses_are_none_that_are_scored(pool):
    egos, seeds = read_egos(["greedy"]), {}
    for kind in ("partner", "best"):
        cells = plan_cells(pool, egos, pool.partners, 50, False, kind)
        seeds[kind] = {match.seed for cell in cells for match in cell.matches}
    assert len(seeds["best"]) == len(seeds["partner"]) == 50 and not seeds["best"] & seeds["partner"]
    with pytest.raises(ValueError, match="episodes must be at least 2, not 1"):
        find_best_responses(pool, egos, Path("none"), 1)


def test_equal_egos_have_a_share_of_one_and_the_luckiest_no_more(pool):
    """Twenty equal egos in 200 pools: normalised by its own games, the leader of a pool is far above 1."""
    rng, shares = np.random.default_rng(0), {"apart": [], "same": []}
    for _ in range(200):
        games = {f"ego_{k}": rng.normal(100, 50, 50).tolist() for k in range(20)}
        (best,) = (
            one.best
            for one in best_responses(
                pool, [best_line(pool, "greedy", name, returns) for name, returns in games.items()]
            )
            if one.best
        )
        again = rng.normal(100, 50, 50).mean()  # what the chosen ego scores, as every other one
        lucky = max(np.mean(returns) for returns in games.values())
        shares["apart"].append(again / best.value)
        shares["same"].append(lucky / best.value)
    apart, same = (mean_ci(values) for values in shares.values())
    assert apart.low <= 1 <= apart.high
    assert same.low > 1.05


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (["sp=none-*.npz"], "no file fits 'none-"),
        (["sp=none.npz"], r"none\.npz: cannot be read"),
        (["greedi"], "unknown policy 'greedi'"),
        (["greedy", "greedy"], "greedy has the same policy twice"),
        ([], "name at least one"),
    ],
)
def test_wrong_egos_get_one_line(text, message):
    with pytest.raises(ValueError, match=message):
        read_egos(text)


def test_commands(pool, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("collab_overcooked.cli.progress.LOG_GAP", 0.0)
    write_partner_pool(Path("pool.yaml"), pool)
    for command in (
        "partners play pool.yaml clone --ego greedy --episodes 2",
        "partners score --pool pool.yaml --ego greedy sp=ppo:cramped_room --out out --episodes 1 --families clone",
        "partners best --pool pool.yaml --ego greedy --out best --episodes 2",
    ):
        with pytest.raises(SystemExit) as exit_:
            app(command.split())
        assert exit_.value.code == 0, capsys.readouterr()
    printed = capsys.readouterr()
    assert printed.out.count("with clone: ") == 2
    assert "2 of 6 partners and seats, about 0 min left" in printed.err, "progress without a terminal"
    lines = [json.loads(line) for line in Path("out", FILE).read_text().splitlines()]
    assert len(lines) == 6 and {line["mode"] for line in lines} == {"sample", None}
    assert {line.get("test_partners") for line in lines} == {3, None}, "three of the pool's partners are for tests"
    best = read_partner_pool(Path("best/pool.yaml"))
    assert all(partner.lower is not None and partner.best for partner in best.partners)
    assert best.digest == pool.digest
