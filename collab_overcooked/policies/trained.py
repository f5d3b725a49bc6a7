"""Trained policies from files: a small network in numpy, so that playing one needs no trainer.

A policy file is an ``.npz`` without pickles: the weights of each layer, and a JSON text that says which game and
observations they are for, and which command, seed and number of steps made them. ``ppo:NAME`` is a file that comes
with the package, ``ppo:PATH`` any other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.envs.api import Game
from collab_overcooked.errors import near_matches
from collab_overcooked.policies.api import EnvInfo, Message, Seen

FORMAT = "collab-overcooked-policy/1"
SHIPPED = Path(__file__).parent / "weights"
MODES = ("sample", "greedy")
ACTIVATIONS = ("relu", "tanh")
LAYERS = ("conv", "dense")
OBSERVING = ("obs", "axes", "view_radius")  # options that change what agents see and nothing else
META = "meta"
REFUSED = np.float32(-1e8)  # logit of an action outside the mask, as sb3-contrib has it

Array = np.ndarray


@dataclass(frozen=True)
class Network:
    """Layers of a policy.

    Attributes:
        scale: What features are multiplied by first, float32, of a shape that broadcasts to an observation's.
        layers: Kind (``"conv"``: 3D input, odd kernel, zeros around the border; ``"dense"``), weight and bias each;
            weights as torch has them, (out, in) and (out, in, height, width).
        activation: Function between layers, ``"relu"`` or ``"tanh"``.
    """

    scale: Array
    layers: tuple[tuple[str, Array, Array], ...]
    activation: str

    def logits(self, observations: Array) -> Array:
        """Return unnormalised log probabilities, float32 (B, A), of observations (B, ...)."""
        x = observations.astype(np.float32) * self.scale
        for number, (kind, weight, bias) in enumerate(self.layers):
            if number:
                x = np.maximum(x, 0.0) if self.activation == "relu" else np.tanh(x)
            x = _convolve(x, weight, bias) if kind == "conv" else x.reshape(len(x), -1) @ weight.T + bias
        return x

    def act(self, observations: Array, masks: Array, rng: np.random.Generator, mode: str = "sample") -> Array:
        """Choose actions.

        Args:
            observations: (B, ...).
            masks: (B, A), nonzero where an action is allowed.
            rng: Used by ``"sample"`` only.
            mode: ``"sample"`` from the policy's probabilities or ``"greedy"``, its likeliest action.

        Returns:
            int64 (B,).
        """
        logits = np.where(masks != 0, self.logits(observations), REFUSED)
        if mode == "sample":  # the largest of logits plus Gumbel noise is a sample of the softmax
            logits = logits + rng.gumbel(size=logits.shape).astype(np.float32)
        return logits.argmax(-1)


def _convolve(x: Array, weight: Array, bias: Array) -> Array:
    """Return the zero-padded convolution of x (B, C, H, W), as a matrix product of its windows."""
    size = weight.shape[-1]
    border = size // 2
    padded = np.pad(x, ((0, 0), (0, 0), (border, border), (border, border)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(2, 3))  # (B, C, H, W, k, k)
    rows = windows.transpose(0, 2, 3, 1, 4, 5).reshape(len(x), *x.shape[2:], -1)
    return (rows @ weight.reshape(len(weight), -1).T + bias).transpose(0, 3, 1, 2)


@dataclass(frozen=True)
class PolicyFile:
    """A policy file's content.

    Attributes:
        network: What plays.
        meta: ``env_id`` and ``env_kwargs`` of the game; ``observation_shape``, ``n_actions``; ``mode``, how it plays
            unless told otherwise; and where it comes from: ``algorithm``, ``command``, ``seed``, ``steps``, ``score``.
    """

    network: Network
    meta: Mapping[str, Any]

    def save(self, path: Path) -> None:
        """Write the file; weights are kept in half precision."""
        arrays: dict[str, Any] = {"scale": self.network.scale}
        for number, (_, weight, bias) in enumerate(self.network.layers):
            arrays[f"weight_{number}"] = weight.astype(np.float16)
            arrays[f"bias_{number}"] = bias.astype(np.float16)
        about = dict(self.meta) | {
            "format": FORMAT,
            "layers": [kind for kind, _, _ in self.network.layers],
            "activation": self.network.activation,
        }
        arrays[META] = np.array(json.dumps(about))
        with path.open("wb") as file:
            np.savez_compressed(file, **arrays)

    @cached_property
    def mode(self) -> str:
        """How it plays unless told otherwise."""
        return str(self.meta["mode"])


def halved(file: PolicyFile) -> PolicyFile:
    """Return a policy with its weights rounded to half precision, as they are kept in files."""
    layers = tuple(
        (kind, weight.astype(np.float16).astype(np.float32), bias.astype(np.float16).astype(np.float32))
        for kind, weight, bias in file.network.layers
    )
    return replace(file, network=replace(file.network, layers=layers))


def read_policy(path: Path) -> PolicyFile:
    """Read a policy file.

    Raises:
        ValueError: If there is none at the path, or it is damaged or of another format.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror or error}") from None
    except Exception as error:  # damaged archives fail in many ways
        raise ValueError(f"{path}: is no policy file: {error}") from None
    try:
        meta = json.loads(str(arrays[META]))
        if meta["format"] != FORMAT:
            raise ValueError(f"format is {meta['format']!r}, allowed is {FORMAT!r}")
        return PolicyFile(_network_of(meta, arrays), meta)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: is no policy file: {error}") from None


def _network_of(meta: Mapping[str, Any], arrays: Mapping[str, Array]) -> Network:
    for name, allowed, values in (
        ("activation", ACTIVATIONS, [meta["activation"]]),
        ("layer", LAYERS, meta["layers"]),
        ("mode", MODES, [meta["mode"]]),
    ):
        for value in values:
            if value not in allowed:
                raise ValueError(near_matches(name, value, allowed))
    layers = tuple(
        (kind, arrays[f"weight_{i}"].astype(np.float32), arrays[f"bias_{i}"].astype(np.float32))
        for i, kind in enumerate(meta["layers"])
    )
    return Network(arrays["scale"].astype(np.float32), layers, meta["activation"])


def shipped_policies() -> list[str]:
    """Return the names of the policies that come with the package."""
    return sorted(path.stem for path in SHIPPED.glob("*.npz"))


def find_policy(text: str) -> Path:
    """Return the file of a name or path.

    Raises:
        ValueError: If it is neither a shipped name nor a path that looks like a file's.
    """
    if text in shipped_policies():
        return SHIPPED / f"{text}.npz"
    if text.endswith(".npz"):
        return Path(text)
    if not text:
        raise ValueError("policy 'ppo' needs a name or a file, for example 'ppo:runs/cramped_room/policy.npz'")
    raise ValueError(f"{near_matches('trained policy', text, shipped_policies())}; or give the path of an .npz file")


class Encoder:
    """Shows a policy the observations that it was trained on, whatever the environment shows.

    Args:
        game: Game that is played.
        meta: Of the policy file.

    Raises:
        ValueError: If the policy belongs to another game, or to a variant with other observations or actions.
    """

    def __init__(self, game: Game, meta: Mapping[str, Any]) -> None:
        if game.id != meta["env_id"]:
            raise ValueError(f"it was trained on {meta['env_id']} and cannot play {game.id}")
        own = {name: value for name, value in meta["env_kwargs"].items() if name in OBSERVING}
        same = all(game.kwargs.get(name) == value for name, value in own.items())
        self.played = game
        self.game = game if same else registry.load_game(game.id, **{**game.kwargs, **own})
        self._out = None if same else self.game.alloc(1)[1]
        for name, is_, was in (
            ("observations of shape", list(self.game.single_observation_space.shape), meta["observation_shape"]),
            ("number of actions", self.game.n_actions, meta["n_actions"]),
        ):
            if is_ != was:
                raise ValueError(f"it was trained on another variant of {game.id}: {name} {was} there, {is_} here")

    def observation(self, seen: Seen) -> Array:
        """Return the seat's observation as the policy knows it."""
        if self._out is None:
            return seen.observation
        return seen.view.observed_by(self.game, self._out)


class TrainedPolicy:
    """Plays a policy file in any seat of its game.

    Args:
        file: What to play.
        mode: ``"sample"`` or ``"greedy"``; the file's own if None.
    """

    name = "ppo"

    def __init__(self, file: PolicyFile, mode: str | None = None) -> None:
        self.file = file
        self.mode = mode or file.mode
        self._rng = np.random.default_rng(0)
        self._encoder: Encoder | None = None

    @property
    def trained_on(self) -> Mapping[str, Any]:
        """Options of the environment that it was trained on."""
        options: Mapping[str, Any] = self.file.meta["env_kwargs"]
        return options

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Start the generator anew and check that the game is the policy's.

        Raises:
            ValueError: If it is another one.
        """
        self._rng = np.random.default_rng([seed, seat])
        if self._encoder is None or self._encoder.played is not info.game:
            try:
                self._encoder = Encoder(info.game, self.file.meta)
            except ValueError as error:
                raise ValueError(f"policy {self.name!r}: {error}") from None

    def act(self, seen: Seen) -> int:
        """Return the network's action."""
        if self._encoder is None:
            raise ValueError(f"policy {self.name!r} must be reset before it is asked")
        observation = self._encoder.observation(seen)
        return int(self.file.network.act(observation[None], seen.mask[None], self._rng, self.mode)[0])

    def reply(self, seen: Seen) -> Message | None:
        """Have nothing to say."""
        return None


def from_text(text: str) -> TrainedPolicy:
    """Make the policy of a spec such as ``"cramped_room"``, ``"runs/a/policy.npz"`` or ``"cramped_room,greedy"``.

    Raises:
        ValueError: For an unknown name, mode, or a file that is none of ours.
    """
    name, _, mode = text.partition(",")
    if mode and mode not in MODES:
        raise ValueError(f"policy 'ppo': {near_matches('mode', mode, MODES)}")
    return TrainedPolicy(read_policy(find_policy(name.strip())), mode or None)


__all__ = [
    "Network",
    "PolicyFile",
    "TrainedPolicy",
    "find_policy",
    "from_text",
    "halved",
    "read_policy",
    "shipped_policies",
]
