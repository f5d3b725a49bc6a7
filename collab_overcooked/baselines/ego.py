"""Egos: agents trained to play with partners that they have not met, and the best responses they are measured by."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from collab_overcooked.baselines.population import train_members
from collab_overcooked.baselines.settings import TrainingSettings, settings_from
from collab_overcooked.baselines.train_logger import BUSY
from collab_overcooked.evaluation.partner_pool import read_partner_pool, write_partner_pool
from collab_overcooked.evaluation.partner_scores import find_best_responses, read_egos
from collab_overcooked.io.checks import OptionError
from collab_overcooked.policies.batched import plays_in_batches
from collab_overcooked.policies.specs import make_known_policy
from collab_overcooked.runner.run import only_writer

logger = logging.getLogger(__name__)

E3T = {"copy_rate": 0.1, "partner_noise": 0.3}


def ego_settings(values: Mapping[str, Any]) -> TrainingSettings:
    """Return the settings of an ego that is trained with the partners of one or several pools.

    Raises:
        ValueError: No pool is named, or a setting is invalid.
    """
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


def train_responses(values: Any, pool_name: str, folder: Path, *, command: str = "", bar: bool = True) -> Path:
    """Train a best response to each partner of a pool, and write its return into the pool.

    A response is a training beside this partner alone. Partners that are neither policy files nor play many episodes at
    once are left out. An entry's ``best`` is replaced if the response earns more. The pool's file is rewritten; for a
    built-in pool, ``pool.yaml`` in the folder is written instead.

    Args:
        values: Settings of a response.
        pool_name: Built-in pool or file.
        folder: Folder of the trainings, one subfolder per partner; existing trainings are resumed.
        command: Kept in the policy files.
        bar: Draw a progress bar of the running training on a terminal.

    Returns:
        The pool's file.

    Raises:
        ValueError: The pool has no partner that plays in batches.
        OptionError: The settings name partners of their own.
    """
    pool = read_partner_pool(pool_name)
    partners = [
        partner for partner in pool.partners if plays_in_batches(make_known_policy(pool.spec(partner)), pool.env_id)
    ]
    skipped = [partner.name for partner in pool.partners if partner not in partners]
    if not partners:
        raise ValueError(f"pool: {pool_name} has no partner that plays many episodes at once, as policy files do")
    if skipped:
        logger.warning(f"left out, as they play one episode at a time: {', '.join(skipped)}")
    if values.get("pool") or values.get("partners"):
        raise OptionError("partners", "partners: each response has one partner, of the pool; leave them out")
    settings = settings_from(TrainingSettings, values)
    members = {
        partner.name: settings.with_values({"partners": [f"{pool_name}#{partner.name}"]}) for partner in partners
    }
    with only_writer(folder, BUSY):
        train_members(members, folder, command=command, bar=bar)
    egos = read_egos([f"response=ppo:{folder / partner.name}/policy.npz" for partner in partners])
    measured = find_best_responses(pool, egos, folder)
    for partner in measured.partners:
        if partner.best:
            best = partner.best
            logger.info(f"{partner.name}: {best.by} earns {best.value:.1f} ({best.low:.1f} to {best.high:.1f})")
    path = Path(pool_name) if pool.folder is not None else folder / "pool.yaml"
    write_partner_pool(path, dataclasses.replace(measured, folder=path.parent))
    return path


def single_pool(values: Mapping[str, Any]) -> str:
    """Return the only pool that is named.

    Raises:
        ValueError: Not exactly one pool is named.
    """
    pools: Sequence[str] = values.get("pool") or ()
    if len(pools) != 1:
        raise ValueError("pool: name one partner pool, for example --pool runs/population/pool.yaml")
    return str(pools[0])
