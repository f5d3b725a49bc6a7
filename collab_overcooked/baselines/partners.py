"""Partners that do not learn: policy files, programs, and a slow copy of the learner itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from collab_overcooked.baselines.settings import TrainingSettings
from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.encodings import observation_options
from collab_overcooked.evaluation.partner_pool import Partner, PartnerPool, read_partner_pool
from collab_overcooked.io.checks import check_distinct, differing_options, quote_value
from collab_overcooked.io.files import file_digest
from collab_overcooked.policies.api import Policy
from collab_overcooked.policies.batched import plays_in_batches
from collab_overcooked.policies.policy_file import (
    Met,
    Network,
    PolicyFile,
    choose,
    policy_path,
    read_policy,
    split_mode,
)
from collab_overcooked.policies.specs import PolicySpec

Array = np.ndarray
COPY = "copy"  # what returns beside the slow copy are called


@dataclass
class TrainingPartner:
    """A policy that plays beside learners."""

    file: PolicyFile | None  # Its network; None for a program
    noise: float = 0.0  # Probability of an action drawn uniformly from the accepted ones instead
    met: Met | None = None  # How policy files name it; None for the learner's own copy
    seat: int | None = None  # The only seat that it takes; None for any
    make: Callable[[], Policy] | None = None  # Returns a new program; None for a network

    @property
    def history(self) -> int:
        """Number of past steps whose actions it reads."""
        return self.file.history if self.file else 0

    @property
    def memory(self) -> int:
        """Size of the partner's hidden state; 0 without memory."""
        return self.file.network.memory if self.file else 0

    @property
    def family(self) -> str:
        """Family of the partner; returns are reported by family."""
        return self.met.family if self.met else COPY

    def act(self, observations: Array, masks: Array, rng: np.random.Generator, state: Array) -> tuple[Array, Array]:
        """Return actions, int64 (B,), for inputs (B, ...), masks (B, A) and hidden state (B, H), and the next state."""
        assert self.file is not None  # programs are asked by their seats
        logits, state = self.file.network.forward(observations, state)
        actions = choose(logits, masks, rng, self.file.mode)
        if self.noise:
            uniform = (rng.random(masks.shape) * (masks != 0)).argmax(-1)
            actions = np.where(rng.random(len(actions)) < self.noise, uniform, actions)
        return actions, state

    def follow(self, network: Network, rate: float) -> None:
        """Move the weights towards the weights of a network with equal layers, by a share of the distance."""
        assert self.file is not None
        layers = tuple(
            (kind, old + rate * (weight - old), old_bias + rate * (bias - old_bias))
            for (kind, old, old_bias), (_, weight, bias) in zip(self.file.network.layers, network.layers, strict=True)
        )
        self.file = replace(self.file, network=replace(network, layers=layers))


def read_partners(settings: TrainingSettings, game: FullGame) -> list[TrainingPartner]:
    """Read the partners of a training: the train splits of its pools, then partners named one by one."""
    check_distinct("pool", settings.pool)
    partners = [partner for pool in settings.pool for partner in _of_pool(pool, settings, game)]
    for name in settings.partners:
        source, mark, entry = name.partition("#")
        if mark:
            pool = read_partner_pool(source)
            partners.append(read_partner(pool, pool.partner(entry), settings.partner_noise))
            check_partner(name, partners[-1].file, game)
            continue
        file, met = read_trained(name)
        partners.append(TrainingPartner(file, settings.partner_noise, met))
        check_partner(name, file, game)
    return partners


def read_trained(name: str) -> tuple[PolicyFile, Met]:
    """Read a policy file, and how files of policies that have met it name it: without the folder of a path."""
    path = policy_path(name)
    file = read_policy(path)
    known_as = path.name if name.endswith(".npz") else name
    return file, Met(known_as, file_digest(path), "clone" if file.meta.get("algorithm") == "bc" else "selfplay")


def _of_pool(name: str, settings: TrainingSettings, game: FullGame) -> list[TrainingPartner]:
    pool = read_partner_pool(name)
    pool_game, encodings = pool.env.game, observation_options(game.id)
    if pool_game.id != game.id:
        raise ValueError(f"pool: {name} is for {pool_game.id}, the training for {game.id}")
    of_pool, of_training = differing_options(pool_game.kwargs, game.kwargs, left_out=encodings)
    if of_pool:
        raise ValueError(f"pool: {name} is for {game.id} with {of_pool}, the training for {of_training}")
    partners = [read_partner(pool, partner, settings.partner_noise) for partner in pool.select("train")]
    if not partners:
        raise ValueError(f"pool: {name} has no partner of split train")
    for partner, read in zip(pool.select("train"), partners, strict=True):
        check_partner(partner.name, read.file, game)
    return partners


def read_partner(pool: PartnerPool, partner: Partner, noise: float = 0.0) -> TrainingPartner:
    """Read a partner of a pool, of any split.

    Raises:
        ValueError: The partner does not play in batches, or is a program that shall be noisy.
    """
    spec = PolicySpec.parse(pool.spec(partner))
    if spec.name != "ppo":
        if not plays_in_batches(spec.make(), pool.env_id):
            raise ValueError(
                f"partner {partner.name}: training takes policy files, and programs that play many episodes at once, "
                f"not {quote_value(partner.policy)}"
            )
        if noise:
            raise ValueError(f"partner_noise: partner {partner.name} is a program; use noisy:{noise:g} in its pool")
        return TrainingPartner(None, met=partner.met, seat=partner.seat, make=spec.make)
    name, mode = split_mode("ppo", spec.parameters)
    file = read_policy(policy_path(name))
    if mode is not None:
        file = replace(file, meta={**file.meta, "mode": mode})
    return TrainingPartner(file, noise, partner.met, partner.seat)


def check_partner(name: str, partner: PolicyFile | None, game: FullGame) -> None:
    """Check that a network reads the observations of a game and chooses among its actions; programs always do."""
    if partner is None:
        return
    shape, actions = partner.meta["observation_shape"], partner.meta["n_actions"]
    if (list(shape), actions) != (list(game.single_observation_space.shape), game.n_actions):
        raise ValueError(
            f"partners: {name} sees observations of shape {shape} and has {actions} actions, the game has "
            f"{list(game.single_observation_space.shape)} and {game.n_actions}"
        )


def met_partners(partners: Iterable[TrainingPartner]) -> list[Met]:
    """Return how the file of a policy trained beside partners names them."""
    return [partner.met for partner in partners if partner.met is not None]


def network_arrays(network: Network) -> dict[str, Array]:
    """Return the weights of a network by name."""
    return {
        f"copy.{number}.{name}": array
        for number, (_, weight, bias) in enumerate(network.layers)
        for name, array in (("weight", weight), ("bias", bias))
    }


def network_from(arrays: dict[str, Any], network: Network) -> Network:
    """Return a network with the weights of ``network_arrays``."""
    layers = tuple(
        (kind, arrays[f"copy.{number}.weight"], arrays[f"copy.{number}.bias"])
        for number, (kind, _, _) in enumerate(network.layers)
    )
    return replace(network, layers=layers)


def families_of(partners: Sequence[TrainingPartner]) -> list[str]:
    """Return the families of partners, each once, in their order."""
    return list(dict.fromkeys(partner.family for partner in partners))
