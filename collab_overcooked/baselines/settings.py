"""Settings of a training run: one frozen record, from YAML files and ``key=value`` arguments."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from msgspec import Meta

from collab_overcooked import registry
from collab_overcooked.envs.wrappers import check_max_cycles, split_options
from collab_overcooked.io.checks import OptionError, check_options, near_matches, quote_value
from collab_overcooked.io.documents import Document, load_file, placed
from collab_overcooked.io.structs import Count, NonNegative, Positive, Share, check_fields
from collab_overcooked.policies.action_history import MAX_PAST_ACTIONS
from collab_overcooked.policies.policy_file import Activation, Mode, PolicyFile, policy_path, read_policy

CONFIGS = Path(__file__).parent / "configs"
NAMED_FOR = {"pbt_": "pbt", "hsp_": "population", "ego_": "ego", "ppo_bc": "ppo-bc"}  # start of the name -> algorithm
MAX_STEPS = 10**12
T = TypeVar("T")
Sizes = Sequence[Positive]
Steps = Annotated[int, Meta(ge=0, le=MAX_STEPS)]
CRITICS = {"local": None, "central": "global", "concat": "concat"}  # kind of ``CriticState``
GRU = "gru:"  # before the size of a memory
# Networks that start from nothing
NETWORK = {"convolutions": (), "trunk": (128,), "heads": (64,), "activation": "relu", "memory": "", "history": 0}
HOLD = {"value_updates": 2, "start_kl": 1.0, "final_start_kl": 0.0}  # with ``start``; without it all are 0
BY_START: Any = None  # of settings that depend on ``start``


def load_game(env_id: str, options: Mapping[str, Any]) -> Any:
    """Return a compiled game, whose episodes are cut after the option ``max_cycles``, if there is one."""
    check_options(options, [*registry.game_options(env_id), "max_cycles"])
    wrapper, of_game = split_options(options)
    game: Any = registry.load_game(env_id, **of_game)
    if limit := check_max_cycles(wrapper.get("max_cycles")):
        for one in (game, getattr(game, "plain", game)):  # a translated game resets by the plain one
            one.max_cycles = one.limit = limit
    return game


@dataclass(frozen=True)
class TrainingSettings:
    """A training by PPO."""

    env: str  # Registered id
    # Environment steps of the whole training (a step of all agents counts once)
    steps: Annotated[int, Meta(ge=1, le=MAX_STEPS)]
    options: Mapping[str, Any] = field(default_factory=dict)  # Options of the environment
    seed: Count = 0  # Of weights, environments and everything drawn
    masks: bool = True  # Draw accepted actions only; ``false`` also draws actions that the game rejects
    environments: Positive = 512  # Number of parallel environments
    rollout: Positive = 64  # Steps of each environment between two updates
    batch_size: Annotated[int, Meta(ge=2)] = 4096  # Rows of a gradient step, at least 2; a row is one step of one agent
    epochs: Positive = 4  # Passes over a rollout
    learning_rate: NonNegative = 1e-3  # At the start
    final_learning_rate: NonNegative = 1e-4  # At the end, linear in between
    gamma: NonNegative = 0.99  # Discount
    gae_lambda: NonNegative = 0.95  # Of generalised advantage estimation
    clip: NonNegative = 0.2  # Of the probability ratio
    entropy: NonNegative = 0.01  # Weight of the entropy bonus at the start
    final_entropy: NonNegative = 0.01  # At the end, linear in between
    value_weight: NonNegative = 0.5  # Weight of the value loss
    max_grad_norm: NonNegative = 0.5  # Longest gradient
    reward_scale: NonNegative = 1.0  # What rewards are multiplied by before learning; reported returns are not
    # Channels of 3x3 layers that come first; for observations (channels, height, width) only. Default: as in
    # ``start``, else none
    convolutions: Sizes = BY_START
    # Sizes of the dense layers that policy and value share. Default: as in ``start``, else [128]
    trunk: Sizes = BY_START
    # Sizes of the dense layers that each has for itself. Default: as in ``start``, else [64]
    heads: Sizes = BY_START
    # Between layers, ``"relu"`` or ``"tanh"``. Default: as in ``start``, else ``"relu"``
    activation: Activation = BY_START
    # Memory between trunk and heads: ``gru:SIZE``, for example ``gru:64``. None if empty. Default: as in ``start``,
    # else none
    memory: str = BY_START
    # Steps through which gradients of the memory go back; divides ``rollout``. Its state is carried over from sequence
    # to sequence and reset where an episode starts. A gradient step takes as many whole sequences as fit
    sequence: Positive = 16
    # What the value is of: ``"local"``, features shared with the policy; ``"central"``, the global state of the
    # environment (``state()``) in a network of its own, as in MAPPO; ``"concat"``, the observations of all seats in
    # such a network. Policy files are the same
    critic: Literal["local", "central", "concat"] = "local"
    # ``"shared"``: one policy for all seats, learning from all; ``"own"``: one for each seat; ``"joint"``: a
    # multi-agent transformer as wide as the last layer of ``trunk``, which reads the observations of all seats and
    # chooses seat by seat. It plays all seats of a team, as ``mat:FILE``
    weights: Literal["shared", "own", "joint"] = "shared"
    # Trained policies (names, files, or ``POOL#NAME`` for a partner of a pool) that hold the other seats and do not
    # learn. Partners and the learner's seat are drawn anew for every episode. None for self-play.
    partners: Sequence[str] = ()
    # Partner pools (names or files) whose partners of split ``train`` are added to ``partners``
    pool: Sequence[str] = ()
    partner_noise: Share = 0.0  # Probability that a partner's action is drawn uniformly from the accepted ones
    # For a partner that is a slow copy of the learner: share of the distance to the learner's weights that the copy
    # moves after each update; 1 for the learner itself. 0 for no such partner.
    copy_rate: Share = 0.0
    copy_share: Share = 0.5  # Probability that the partner of an episode is that copy where there are others too
    # How much more often partners are drawn beside which the learner earns less: probabilities go by the rank of the
    # running mean return to this power, as in MEP (0.5 to 3 there). 0 draws all alike
    priority: NonNegative = 0.0
    # For each learner of ``weights="own"``, weights of its events, by name, of which its reward is the sum; ``reward``
    # is the weight of the game's own reward. Shaped rewards are added as usual. An empty mapping stands for the game's
    # own reward alone. Seats are drawn anew for every episode.
    preferences: Sequence[Mapping[str, float]] = ()
    # Steps whose actions, of all seats, the learner reads after the observation; for games in which seats see what the
    # others do. Default: as in ``start``, else 0
    history: Count = BY_START
    # Policy (name or file) to start from, for example a clone; the sizes of its network are taken from it. The value
    # part starts anew. None if empty.
    start: str = ""
    # Updates at the beginning that change the value alone, as it knows nothing of ``start``. Default: 2 with
    # ``start``, else 0
    value_updates: Count = BY_START
    # Weight in the loss, at the start, of the divergence KL(``start`` || policy), which keeps the policy near what it
    # starts from. Default: 1 with ``start``, else 0
    start_kl: NonNegative = BY_START
    final_start_kl: NonNegative = BY_START  # At the end, linear in between. Default: 0
    shaping: NonNegative = 1.0  # Weight of the game's shaped rewards at the start
    shaping_steps: Steps = 0  # Environment steps in which that weight falls to 0, linearly; 0 keeps it
    target_return: float | None = None  # Stop when the mean return of recent episodes reaches this
    checkpoint_every: Positive = 20  # Updates between two checkpoints
    checkpoint_seconds: NonNegative = 60.0  # A checkpoint is also written when the last one is older than this
    # Environment steps between two evaluations in self-play, ``eval_return`` in the log. Their seeds are the same in
    # every training and none of its own. 0 for none.
    evaluate_every: Steps = 0
    evaluation_games: Positive = 20  # Games of an evaluation
    kept_policies: Count = 0  # Policies that are kept on the way, at equal distances from the untrained to the last one
    mode: Mode = "sample"  # How the exported policy plays by default, ``"sample"`` or ``"greedy"``
    # Where networks are and learn: ``"cpu"``, ``"cuda"``, or ``"auto"`` for CUDA where torch finds a GPU.
    # Environments are always stepped on the CPU
    device: Literal["auto", "cpu", "cuda"] = "auto"
    threads: Positive = 1  # Threads of torch on the CPU; more than one slows down networks of the default size

    def __post_init__(self) -> None:
        self._fill_in()
        check_fields(self)
        check_env(self.env)
        self._check_joint()
        self._check_memory()
        self._check_partners()

    def _fill_in(self) -> None:
        """Fill in settings that depend on ``start``, and reject settings that contradict it."""
        if not isinstance(self.start, str):
            raise OptionError("start", f"start must be a policy's name or file, not {quote_value(self.start)}")
        network: dict[str, Any] = NETWORK
        hold: dict[str, float] = dict.fromkeys(HOLD, 0)
        if self.start:
            given = {name: getattr(self, name) for name in NETWORK if getattr(self, name) is not None}
            network = network_of_start(self.start, read_policy(policy_path(self.start)), given)
            hold = HOLD
        for name, value in (network | hold).items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
            elif name in HOLD and getattr(self, name) and not self.start:
                raise OptionError(name, f"{name}: there is no policy to start from; name it, start=FILE")

    @property
    def memory_size(self) -> int:
        """Size of the hidden state; 0 without memory."""
        return int(self.memory.removeprefix(GRU)) if self.memory else 0

    @property
    def gradient_steps(self) -> int:
        """Steps of a row that are learned from together: a sequence, or one step without memory."""
        return self.sequence if self.memory else 1

    def _check_memory(self) -> None:
        if not isinstance(self.memory, str) or not re.fullmatch(rf"({GRU}[1-9]\d{{0,3}})?", self.memory, re.ASCII):
            raise OptionError("memory", f"memory must be {GRU}SIZE, such as {GRU}64, not {quote_value(self.memory)}")
        if rest := self.rollout % self.gradient_steps:
            works = [steps for steps in range(1, self.rollout + 1) if self.rollout % steps == 0]
            nearest = min(works, key=lambda steps: abs(steps - self.sequence))
            longer = self.rollout - rest + self.sequence
            raise OptionError(
                "sequence",
                f"sequence={self.sequence} does not divide rollout={self.rollout}; set rollout={longer} or "
                f"sequence={nearest}",
            )

    @property
    def has_partners(self) -> bool:
        """True if there are partners that do not learn."""
        return bool(self.partners or self.pool or self.copy_rate)

    def _check_joint(self) -> None:
        if self.weights == "joint":
            if not self.trunk:
                raise OptionError("trunk", "trunk: its last layer is the width of a transformer, so it must have one")
            for name in ("convolutions", "memory", "history", "start"):
                if getattr(self, name):
                    raise OptionError(name, f"{name}: not with weights='joint', {quote_value(getattr(self, name))}")
            if self.critic != "local":
                raise OptionError("critic", "critic: a transformer's value reads all seats; leave critic='local'")

    def _check_partners(self) -> None:
        if self.weights != "shared" and self.has_partners:
            raise OptionError(
                "weights",
                f"weights: {self.weights!r} is for self-play; with partners there is one learner, weights='shared'",
            )
        if self.partner_noise and not self.has_partners:
            raise OptionError("partner_noise", "partner_noise: there are no partners; name some, a pool or a copy_rate")
        if self.priority and not (self.partners or self.pool):
            raise OptionError("priority", "priority: there are no partners to draw from; name some or a pool")
        if self.evaluate_every and self.has_partners:
            raise OptionError("evaluate_every", "evaluate_every: it is for self-play, not for training beside partners")
        if self.kept_policies and self.weights == "own":
            raise OptionError("kept_policies", "kept_policies: one policy is kept at a time, with weights='shared'")
        if self.preferences and self.weights != "own":
            raise OptionError("preferences", "preferences: each learner has its own; they need weights='own'")
        if self.history > MAX_PAST_ACTIONS:
            raise OptionError("history", f"history must be at most {MAX_PAST_ACTIONS}, not {quote_value(self.history)}")
        if self.history and self.convolutions:
            raise OptionError("history", "history: past actions are no picture; use dense layers, convolutions=[]")

    def with_values(self, values: Mapping[str, Any]) -> TrainingSettings:
        """Return settings with some values replaced; a new ``start`` is held on to unless the values say otherwise."""
        check_options(values, [item.name for item in fields(self)])
        held: dict[str, Any] = dict.fromkeys(HOLD) if values.get("start") and not self.start else {}
        return dataclasses.replace(self, **held | dict(values))

    def shaping_at(self, steps: int) -> float:
        """Return the weight of shaped rewards after so many environment steps."""
        if not self.shaping_steps:
            return self.shaping
        return self.shaping * max(0.0, 1.0 - steps / self.shaping_steps)

    def to_dict(self) -> dict[str, Any]:
        """Return all values, fit for JSON and YAML."""
        values = dataclasses.asdict(self)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def network_of_start(name: str, file: PolicyFile, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of ``NETWORK`` that a policy to start from was trained with.

    Args:
        name: Name of the policy, for error messages.
        file: The policy.
        given: Settings that must not contradict it; dense layers in a row are trunk or heads as they say.

    Raises:
        ValueError: If the policy has layers that PPO does not train, or other ones than are given.
    """
    kinds = [kind for kind, _, _ in file.network.layers]
    sizes = [len(bias) for _, _, bias in file.network.layers]
    if others := {*kinds}.difference(("conv", "dense", "gru")):
        raise OptionError("start", f"start: {name} has a layer of kind {others.pop()}, which PPO does not continue")
    first, last = kinds.count("conv"), len(kinds) - 1
    memory = kinds.index("gru") if "gru" in kinds else None
    dense = [*sizes[first:last]]
    if memory is not None:
        length = memory - first
        del dense[length]
    elif isinstance(given.get("trunk"), (list, tuple)):
        length = len(given["trunk"])
    elif isinstance(given.get("heads"), (list, tuple)):
        length = max(0, len(dense) - len(given["heads"]))
    else:
        length = max(1, len(dense) - 1)
    network = {
        "convolutions": tuple(sizes[:first]),
        "trunk": tuple(dense[:length]),
        "heads": tuple(dense[length:]),
        "activation": file.network.activation,
        "memory": "" if memory is None else f"{GRU}{file.network.memory}",
        "history": file.history,
    }
    for setting, value in given.items():
        own, other = (list(one) if isinstance(one, tuple) else one for one in (network[setting], value))
        if own != other:
            message = f"{quote_value(other)} is set, start={name} has {quote_value(own)}; leave it out"
            raise OptionError(setting, f"{setting}: {message}")
    return network


def check_env(env_id: Any) -> None:
    """Reject an id that is not registered."""
    if not isinstance(env_id, str):
        raise OptionError("env", f"env must be an environment id, not {quote_value(env_id)}")
    try:
        registry.find(env_id)
    except ValueError as error:
        raise OptionError("env", str(error)) from None


def shipped_configs() -> list[str]:
    """Return the names of the configurations that come with the package."""
    return sorted(path.stem for path in CONFIGS.glob("*.yaml"))


def algorithm_of(config: str) -> str:
    """Return the algorithm that a built-in configuration is made for, which its name begins with unless it is PPO."""
    return next((algorithm for start, algorithm in NAMED_FOR.items() if config.startswith(start)), "ppo")


def read_config(text: str) -> Document:
    """Read a configuration: a built-in name or the path of a YAML file.

    Raises:
        ValueError: The name is unknown, or the file is invalid.
    """
    path = CONFIGS / f"{text}.yaml" if text in shipped_configs() else Path(text)
    if path.suffix not in (".yaml", ".yml"):
        raise ValueError(f"{near_matches('configuration', text, shipped_configs())}; or give the path of a YAML file")
    return load_file(path, "configuration")


def settings_from(kind: type[T], values: Mapping[str, Any]) -> T:
    """Return settings, which are a dataclass, from names and values.

    Raises:
        OptionError: A name is unknown, or its value is invalid.
    """
    with placed(values):
        known = fields(kind)  # type: ignore[arg-type]
        check_options(values, [item.name for item in known])
        for item in known:
            needed = item.default is MISSING and item.default_factory is MISSING
            if needed and values.get(item.name) is None:
                message = f"{item.name} is missing: give it in the configuration or on the command line"
                raise OptionError(item.name, message)
        return kind(**values)


def split_settings(kind: type[T], values: Mapping[str, Any]) -> tuple[T, TrainingSettings]:
    """Split values by name into the settings of an algorithm and of its trainings."""
    names = {item.name for item in fields(kind)}  # type: ignore[arg-type]
    outer = kind(**{name: value for name, value in values.items() if name in names})
    return outer, settings_from(TrainingSettings, {name: values[name] for name in values if name not in names})
