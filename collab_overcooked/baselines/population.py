"""Populations to train an ego beside: self-play at several skills (FCP, MEP), and pairs with preferences (HSP).

Each member is a training in a folder of its own. The result is a partner pool, ``pool.yaml``, of policy files in these
folders.

Sources: fictitious co-play, Strouse et al. 2021; maximum entropy population, Zhao et al. 2023; hidden-utility
self-play, Yu et al. 2023.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta

from collab_overcooked.baselines.checkpoints import choose_skills, kept_policies, self_play_returns
from collab_overcooked.baselines.max_entropy import train_together
from collab_overcooked.baselines.preferences import draw_preferences, select_diverse
from collab_overcooked.baselines.scores import Games, play_games
from collab_overcooked.baselines.settings import TrainingSettings, load_game, split_settings
from collab_overcooked.baselines.train_logger import BUSY
from collab_overcooked.baselines.training import claim_folder, is_finished, train
from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.event_rewards import EventReward
from collab_overcooked.evaluation.partner_pool import Partner, PartnerPool, make_partner, write_partner_pool
from collab_overcooked.evaluation.partner_scores import best_of
from collab_overcooked.io.checks import OptionError
from collab_overcooked.io.documents import placed
from collab_overcooked.io.structs import Count, NonNegative, Positive, check_fields
from collab_overcooked.policies.policy_file import PolicyFile, read_policy
from collab_overcooked.runner.run import only_writer

logger = logging.getLogger(__name__)

POOL = "pool.yaml"
KEPT = 11  # policies of a member that its middle one is chosen from, unless the settings say more
MIN_RETURN = 0.1  # of a pair with preferences; those below cannot play, as in ZSC-Eval


@dataclass(frozen=True)
class PopulationSettings:
    """A population of partners."""

    # ``"fcp"``: self-play, each member untrained, at half of its final return and at the end; ``"mep"``: the same of
    # members that learn together and are paid for actions that are unlikely for all of them; ``"hsp"``: pairs of which
    # one prefers some events and the other is paid as usual
    method: Literal["fcp", "mep", "hsp"] = "fcp"
    members: Positive = 8  # Trainings, each with a seed of its own
    alpha: NonNegative = 0.01  # Weight of the bonus of ``"mep"``, see ``max_entropy.EntropyBonus``
    # Members with preferences that go into the pool, those whose events differ most; 0 for half of them
    chosen: Count = 0
    # Levels of the weight of each event for ``"hsp"``, drawn for each member; see ``TrainingSettings.preferences``
    grid: Mapping[str, Annotated[Sequence[float], Meta(min_length=1)]] = field(default_factory=dict)
    scoring_games: Annotated[int, Meta(ge=2)] = 20  # Games by which policies are chosen

    def __post_init__(self) -> None:
        check_fields(self)
        if (self.method == "hsp") != bool(self.grid):
            problem = "is missing: give levels of the weights of some events" if self.method == "hsp" else "is for hsp"
            raise OptionError("grid", f"grid {problem}")


def read_population_settings(values: Mapping[str, Any]) -> tuple[PopulationSettings, TrainingSettings]:
    """Return settings of the population and of its members, from names and values of both.

    Raises:
        OptionError: A setting is invalid, or does not belong to a population.
    """
    with placed(values):
        population, settings = split_settings(PopulationSettings, values)
        if settings.has_partners or settings.preferences:
            raise OptionError("partners", "partners, pool, copy_rate and preferences: a population has its own")
        if population.method == "mep" and settings.memory:
            raise OptionError("memory", "memory: members of mep are compared step by step, which needs memory=''")
    return population, settings


def member_settings(population: PopulationSettings, settings: TrainingSettings) -> list[TrainingSettings]:
    """Return the settings of each member."""
    kept = settings.kept_policies if population.method == "hsp" else max(settings.kept_policies, KEPT)
    members = [
        settings.with_values({"seed": settings.seed * 1000 + k, "kept_policies": kept})
        for k in range(population.members)
    ]
    if population.method != "hsp":
        return members
    game = load_game(settings.env, settings.options)
    EventReward(game, dict.fromkeys(population.grid, 1.0))  # checks the names
    drawn = draw_preferences(population.grid, population.members, settings.seed)
    others: list[Mapping[str, float]] = [{}] * (game.n_agents - 1)
    return [
        member.with_values({"weights": "own", "preferences": [weights, *others]})
        for member, weights in zip(members, drawn, strict=True)
    ]


def run_population(
    population: PopulationSettings, settings: TrainingSettings, folder: Path, *, command: str = "", bar: bool = True
) -> Path:
    """Train a population in a folder: ``member_*/`` and ``pool.yaml``.

    What is there is continued: finished members are kept, the running one goes on from its checkpoint.

    Args:
        population: Method and size.
        settings: Settings of the members' trainings.
        folder: Made if it does not exist.
        command: Kept in the policy files.
        bar: Draw a progress bar of the running member on a terminal.

    Returns:
        The pool's file.
    """
    with only_writer(folder, BUSY):
        members = member_settings(population, settings)
        joint = {"alpha": population.alpha, "members": len(members)} if population.method == "mep" else {}
        claim_folder(folder, {"method": population.method, **joint})
        if population.method == "mep":
            train_together(members, population.alpha, folder, command=command, bar=bar)
        else:
            named = {f"member_{k}": member for k, member in enumerate(members)}
            train_members(named, folder, command=command, bar=bar)
        game = load_game(settings.env, settings.options)
        collect = _preferring if population.method == "hsp" else _skills
        partners = tuple(collect(population, game, folder))
        title = f"{population.method.upper()}: {population.members} members of {settings.steps:,} steps"
        pool = PartnerPool(
            folder.name, settings.env, settings.options, partners, title, seed=settings.seed, folder=folder
        )
        write_partner_pool(folder / POOL, pool)
        return folder / POOL


def train_members(members: Mapping[str, TrainingSettings], folder: Path, *, command: str, bar: bool) -> None:
    """Train members one by one, each in the folder of its name; finished members are skipped."""
    began, trained = time.monotonic(), 0
    for k, (name, member) in enumerate(members.items()):
        path = folder / name
        if is_finished(member, path):
            continue
        outcome = train(member, path, command=command, bar=bar)
        trained += 1
        left = (len(members) - k - 1) * (time.monotonic() - began) / trained
        mean = "no whole episode" if outcome.mean_return is None else f"return {outcome.mean_return:.1f}"
        logger.info(f"member {k + 1} of {len(members)}: {mean}; about {timedelta(seconds=round(left))} left")


def _skills(population: PopulationSettings, game: FullGame, folder: Path) -> Iterator[Partner]:
    family = "selfplay" if population.method == "fcp" else "population"
    for k in range(population.members):
        files = kept_policies(folder / f"member_{k}")
        returns = self_play_returns(game, files, population.scoring_games, k)
        for skill, index in choose_skills(returns).items():
            spec = f"ppo:{files[index].relative_to(folder).as_posix()}"
            logger.info(f"member {k}, {skill}: return {returns[index]:.1f} with itself")
            yield make_partner(f"member_{k}_{skill}", spec, family, folder, split="train")


def _preferring(population: PopulationSettings, game: FullGame, folder: Path) -> Iterator[Partner]:
    played = {}
    for k in range(population.members):
        pair = [read_policy(folder / f"member_{k}" / f"policy_{role}.npz") for role in range(game.n_agents)]
        games = play_all_seats(game, pair[0], pair[1:], population.scoring_games, k)
        mean = float(np.concatenate([numbers.returns for numbers in games]).mean())
        logger.info(f"member {k}: return {mean:.1f}" + ("" if mean > MIN_RETURN else ", left out"))
        if mean > MIN_RETURN:
            played[k] = games
    if not played:
        raise ValueError(f"{folder}: no member earns more than {MIN_RETURN}; train for more --steps")
    rates = np.array([event_rates(games) for games in played.values()])
    for index in select_diverse(rates, population.chosen or -(-population.members // 2)):
        k = list(played)[index]
        returns = np.concatenate([numbers.returns for numbers in played[k]])
        partner = make_partner(f"member_{k}", f"ppo:member_{k}/policy_0.npz", "preference", folder, split="train")
        yield replace(partner, best=best_of(returns.tolist(), f"ppo:member_{k}/policy_1.npz", partner.sha256))


def play_all_seats(
    game: FullGame, policy: PolicyFile, others: Sequence[PolicyFile], games: int, seed: int
) -> list[Games]:
    """Play games with a policy in each seat in turn; its teammates take the following seats, cyclically."""
    team = [policy, *others]
    return [
        play_games(game, [team[(seat - first) % game.n_agents] for seat in range(game.n_agents)], games, seed)
        for first in range(game.n_agents)
    ]


def event_rates(games: Sequence[Games]) -> np.ndarray:
    """Return the mean number of each event per episode of the policy that sat in seat k of the k-th games."""
    counts = [one.events[:, seat] for seat, one in enumerate(games) if one.events is not None]
    rates: np.ndarray = np.concatenate(counts).mean(0)
    return rates
