"""Egos: agents trained to play with partners that they have not met, and the best responses they are measured by."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.baselines.partners import read_partner
from collab_overcooked.baselines.population import best_of, play_all_seats, train_members
from collab_overcooked.baselines.scores import GAMES
from collab_overcooked.baselines.settings import TrainingSettings, settings_from
from collab_overcooked.evaluation.partner_pool import (
    Best,
    Partner,
    PartnerPool,
    merge_partners,
    read_partner_pool,
    write_partner_pool,
)
from collab_overcooked.io.checks import OptionError
from collab_overcooked.policies.policy_file import read_policy

E3T = {"copy_rate": 0.1, "partner_noise": 0.3}
Say = Callable[[str], None]


def ego_settings(values: Mapping[str, Any]) -> TrainingSettings:
    """Return the settings of an ego that is trained beside the partners of one or several pools."""
    if not values.get("pool"):
        raise ValueError("pool is missing: name a partner pool, for example --pool runs/population/pool.yaml")
    return settings_from(TrainingSettings, values)


def e3t_settings(values: Any) -> TrainingSettings:
    """Return the settings of self-play beside a slow copy with noise.

    As E3T (Yan et al. 2023): its partner acts like a slow copy of the ego, or uniformly at random with a fixed
    probability. Without its prediction of the partner's actions; ``history`` shows the ego what it would predict from.
    """
    chosen = {name: values[name] for name in E3T if name in values}
    return settings_from(TrainingSettings, values.replace({**E3T, **chosen}))


def train_responses(
    values: Any, pool_name: str, folder: Path, *, command: str = "", bar: bool = True, say: Say = print
) -> Path:
    """Train a response to each partner of a pool that is a policy file, and write what it earns into the pool.

    A response is a training beside this partner alone. An entry's ``best`` is replaced if the response earns more. The
    pool's file is rewritten; for a built-in pool, ``pool.yaml`` in the folder is written instead.

    Args:
        values: Settings of a response.
        pool_name: Built-in pool or file.
        folder: Of the trainings, ``member_K`` for the K-th of these partners; what is there is continued.
        command: Kept in the policy files.
        bar: Draw a progress bar of the running training on a terminal.
        say: Called with what each response earns, and what is left out.

    Returns:
        The pool's file.
    """
    pool = read_partner_pool(pool_name)
    partners = [partner for partner in pool.partners if partner.policy.startswith("ppo:")]
    skipped = [partner.name for partner in pool.partners if partner not in partners]
    if not partners:
        raise ValueError(f"pool: {pool_name} has no partner that is a policy file; others cannot be trained beside")
    if skipped:
        say(f"left out, as they are no policy files: {', '.join(skipped)}")
    if values.get("pool") or values.get("partners"):
        raise OptionError("partners", "partners: each response has one partner, of the pool; leave them out")
    settings = settings_from(TrainingSettings, values)
    members = [settings.with_values({"partners": [f"{pool_name}#{partner.name}"]}) for partner in partners]
    train_members(members, folder, command=command, bar=bar, say=say)
    measured = []
    for k, partner in enumerate(partners):
        best = measure_response(pool, partner, folder / f"member_{k}" / "policy.npz", settings.seed)
        say(f"{partner.name}: its response earns {best.value:.1f} ({best.low:.1f} to {best.high:.1f})")
        measured.append(dataclasses.replace(partner, best=best))
    path = Path(pool_name) if pool.folder is not None else folder / "pool.yaml"
    write_partner_pool(path, dataclasses.replace(pool, partners=merge_partners(pool.partners, measured)))
    return path


def measure_response(pool: PartnerPool, partner: Partner, path: Path, seed: int, games: int = GAMES) -> Best:
    """Return what a policy earns beside a partner, in every seat that the partner leaves."""
    file = read_policy(path)
    game = registry.load_game(file.meta["env_id"], **file.meta["env_kwargs"])
    other = read_partner(pool, partner).file
    played = play_all_seats(game, file, [other] * (game.n_agents - 1), games, seed)
    return best_of(np.concatenate([played[seat].returns for seat in pool.seats(partner)]), f"ppo:{path}")


def single_pool(values: Mapping[str, Any]) -> str:
    """Return the only pool that is named."""
    pools: Sequence[str] = values.get("pool") or ()
    if len(pools) != 1:
        raise ValueError("pool: name one partner pool, for example --pool runs/population/pool.yaml")
    return str(pools[0])
