"""Export trained networks, so that teams can name them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.io.checks import near_matches, quote_value
from collab_overcooked.io.files import draft
from collab_overcooked.policies.networks import KEY, sb3_family, sb3_forward, sb3_state, torch_forward, torch_state
from collab_overcooked.policies.policy_file import ACTIVATIONS, MODES, Network, PolicyFile

Array = np.ndarray
Forward = Callable[[Array, Array], tuple[Array, Array]]
Layers = Sequence[tuple[Array, Array]]
PROBES = 64  # observations on which an exported network must agree with its source
TOLERANCE = 1e-3  # of logits, float32 sums in another order
SUFFIXES = {"SB3 model": (".npz", ".zip"), "module": (".npz", ".pt"), "state dict": (".pt",), "layers": (".npz",)}


def export_policy(
    model: Any, path: str | Path, env: Any = None, *, mode: str | None = None, activation: str | None = None
) -> Path:
    """Write a trained network to a file that teams can name, with the game and the observation it was trained on.

    An ``.npz`` file plays as ``ppo:FILE.npz`` without torch; it holds scaled dense layers and 3D convolutions with one
    activation between them, and the LSTM of sb3-contrib's RecurrentPPO, and is compared with the model before it is
    written. A ``.zip`` file (SB3 models of any architecture) plays as ``sb3:FILE.zip``, a ``.pt`` file (weights of any
    module) as ``torch:SOURCE.py:Class@FILE.pt``, which refuses a recurrent module that could not carry its state; such
    weights play with a policy class of their own.

    Args:
        model: Model of Stable-Baselines3 or sb3-contrib, ``torch.nn.Module``, its state dict, or a sequence of dense
            layers ``(weight, bias)`` of shapes (out, in) and (out,).
        path: File to write, overwritten if it exists; its suffix chooses the format.
        env: Environment it was trained on: any kind that ``make`` or ``make_vec`` returns, or a compiled game. If
            None, the model's own.
        mode: How it plays by default: ``"sample"`` or ``"greedy"``. If None, ``"greedy"`` for models that learn values
            of actions and ``"sample"`` for all others.
        activation: ``"relu"`` or ``"tanh"``, of plain layers. If None, ``"relu"``; modules and models tell by
            themselves.

    Returns:
        The path.

    Raises:
        ValueError: If the model is none of these, does not fit the environment, or cannot be written in this format.
    """
    path, kind = Path(path), _kind_of(model)
    if path.suffix not in SUFFIXES[kind]:
        raise ValueError(f"path: a {kind} is written to {' or '.join(SUFFIXES[kind])}, not to {quote_value(path.name)}")
    for name, value, allowed in (("mode", mode, MODES), ("activation", activation, ACTIVATIONS)):
        if value is not None and value not in allowed:
            raise ValueError(near_matches(name, value, allowed))
    game = _game_of(model.get_env() if env is None and kind == "SB3 model" else env)
    values = kind == "SB3 model" and sb3_family(model.policy) == "values"
    meta = {
        "env_id": game.id,
        "env_kwargs": dict(game.kwargs),
        "observation_shape": list(game.single_observation_space.shape),
        "n_actions": game.n_actions,
        "mode": mode or ("greedy" if values else "sample"),
    }
    if path.suffix == ".npz":
        with _evaluating(model.policy) if kind == "SB3 model" else _evaluating(model):
            network = _network(model, kind, game, activation)
        PolicyFile(network, meta).save(path, np.float32)
    elif path.suffix == ".zip":
        sb3_state(model.policy, 1)  # refuses recurrent layers whose state could not be carried
        setattr(model, KEY, meta)  # the model's own saving keeps all attributes
        try:
            with draft(path) as beside:
                model.save(beside)
        finally:
            delattr(model, KEY)
    else:
        import torch

        weights = dict(model.state_dict() if kind == "module" else model)
        with draft(path) as beside:
            torch.save({KEY: meta, "state_dict": weights}, beside)
    return path


def _kind_of(model: Any) -> str:
    if isinstance(model, Mapping):
        return "state dict"
    if isinstance(model, Sequence) and not isinstance(model, str):
        return "layers"
    if hasattr(model, "policy") and hasattr(model, "get_env"):
        return "SB3 model"
    if hasattr(model, "state_dict"):
        return "module"
    raise ValueError(
        f"model must be an SB3 model, a torch module, a state dict or a list of layers, not {quote_value(model)}"
    )


def _game_of(env: Any) -> FullGame:
    if env is None:
        raise ValueError(
            "env: name the environment that the network was trained on, as in export_policy(model, path, env)"
        )
    wrapped = env
    while wrapped is not None:
        if hasattr(wrapped, "norm_obs") and wrapped.norm_obs:
            raise ValueError(
                "env: VecNormalize changes observations, which an exported policy would not; norm_obs=False"
            )
        for holder in (wrapped, getattr(wrapped, "batch", None)):
            game = getattr(holder, "game", holder)
            if isinstance(game, FullGame):
                return game
        wrapped = next((inner for name in ("venv", "env") if (inner := vars(wrapped).get(name)) is not None), None)
    raise ValueError(f"env must be an environment or a game of this package, not {quote_value(env)}")


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Switch dropout and batch normalisation of a module off for a block; plain layers have none."""
    modes = {part: part.training for part in model.modules()} if hasattr(model, "modules") else {}
    if modes:
        model.eval()
    try:
        yield
    finally:
        for part, mode in modes.items():
            part.training = mode


def _network(model: Any, kind: str, game: FullGame, activation: str | None) -> Network:
    shape = game.single_observation_space.shape
    scale = np.ones((1,) * len(shape), np.float32)
    if kind == "layers":
        layers = tuple(_plain_layers(model))
        network = Network(scale, layers, activation or "relu")
        _check_shapes(network, game)
        return network
    if kind == "SB3 model":
        policy = model.policy
        state = sb3_state(policy, PROBES)
        forward: Forward = lambda observations, state: sb3_forward(policy, observations, state)  # noqa: E731
        family = sb3_family(policy)
        parts = [policy.q_net if family == "values" else policy]
        if family in ("recurrent", "actor"):
            memory = [policy.lstm_actor] if family == "recurrent" else []
            parts = [policy.features_extractor, *memory, policy.mlp_extractor.policy_net, policy.action_net]
    else:
        state = torch_state(model, PROBES)
        forward = lambda observations, state: torch_forward(model, observations, state)  # noqa: E731
        parts = [model]
    layers = tuple(layer for part in parts for layer in _module_layers(part))
    probes = _probes(game)
    expected = _expected(forward, probes, state, game)
    for name in ACTIVATIONS:
        network = Network(scale, layers, name)
        if _same(network, probes, state, expected):
            return network
    other = "a .zip file" if kind == "SB3 model" else "a .pt file"
    raise ValueError(
        "model: its layers are not supported in .npz files, which hold dense layers and 3D convolutions with one "
        f"activation (relu or tanh) between them; write {other} instead"
    )


def _plain_layers(layers: Any) -> Iterator[tuple[str, Array, Array]]:
    for number, layer in enumerate(layers):
        try:
            weight, bias = (np.asarray(array, np.float32) for array in layer)
        except (TypeError, ValueError):
            raise ValueError(
                f"model[{number}] must be a pair of arrays (weight, bias), not {quote_value(layer)}"
            ) from None
        yield "dense", weight, bias


def _check_shapes(network: Network, game: FullGame) -> None:
    size = int(np.prod(game.single_observation_space.shape))
    for number, (_, weight, bias) in enumerate(network.layers):
        if weight.ndim != 2 or weight.shape[1] != size or bias.shape != weight.shape[:1]:
            raise ValueError(f"model[{number}]: weight {weight.shape} and bias {bias.shape} do not fit {size} inputs")
        size = len(weight)
    if size != game.n_actions:
        raise ValueError(f"model: its last layer has {size} outputs, {game.id} has {game.n_actions} actions")


def _module_layers(module: Any) -> Iterator[tuple[str, Array, Array]]:
    from torch import nn

    for part in module.modules():
        if isinstance(part, nn.Conv2d | nn.Linear):
            weight = part.weight.detach().numpy().copy()
            bias = np.zeros(len(weight), np.float32) if part.bias is None else part.bias.detach().numpy().copy()
            yield "conv" if isinstance(part, nn.Conv2d) else "dense", weight, bias
        elif isinstance(part, nn.LSTM):
            for layer in part.all_weights:
                arrays = [parameter.detach().numpy().copy() for parameter in layer]
                biases = arrays[2:] or [np.zeros(len(arrays[0]), np.float32)] * 2
                yield "lstm", np.concatenate(arrays[:2], 1), np.concatenate(biases)


def _probes(game: FullGame) -> Array:
    space = game.single_observation_space
    rng = np.random.default_rng(0)
    low, high = space.low.astype(np.float64), space.high.astype(np.float64)
    return (low + rng.random((PROBES, *space.shape)) * (high - low)).astype(space.dtype)


def _expected(forward: Forward, probes: Array, state: Array, game: FullGame) -> tuple[Array, Array]:
    """Return the model's logits and next state for observations and states that are drawn."""
    state[:] = np.random.default_rng(1).uniform(-1, 1, state.shape)
    try:
        logits, after = forward(probes, state)
    except (RuntimeError, ValueError) as error:
        raise ValueError(
            f"model: its size does not fit: observations of {game.id} have the shape {probes.shape[1:]}, and it fails "
            f"on them: {' '.join(str(error).split()):.200}"
        ) from None
    if logits.shape[1] != game.n_actions:
        raise ValueError(
            f"model: its size does not fit: it has {logits.shape[1]} outputs, {game.id} has {game.n_actions} actions"
        )
    return logits, after


def _same(network: Network, probes: Array, state: Array, expected: tuple[Array, Array]) -> bool:
    try:
        logits, after = network.forward(probes, state)
    except (RuntimeError, ValueError):  # shapes that do not fit
        return False
    if logits.shape != expected[0].shape or after.shape != expected[1].shape:
        return False
    if np.abs(after - expected[1]).max(initial=0.0) > TOLERANCE:
        return False
    difference = logits - expected[0]
    difference -= difference.mean(-1, keepdims=True)  # a policy's logits may be normalised
    return bool((np.abs(difference) <= TOLERANCE * np.maximum(1.0, np.abs(expected[0]))).all())
