"""Custom networks in any seat: ``sb3:model.zip`` and ``torch:file.py:Net@weights.pt``.

Weights of torch are read by ``torch.load(weights_only=True)``, which makes tensors, numbers and texts only. A model of
Stable-Baselines3 is a pickle: reading one runs the code in it, so play only models that you saved or trust. The Python
file of a network is imported, as of any policy ``file.py:Class``.
"""

from __future__ import annotations

import inspect
import io
import itertools
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from collab_overcooked import plugins, registry
from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.encodings import observation_options, select_observation
from collab_overcooked.io import schema
from collab_overcooked.io.checks import near_matches, refuse_twice
from collab_overcooked.io.files import read_bytes
from collab_overcooked.io.structs import convert
from collab_overcooked.policies.observation import Observer
from collab_overcooked.policies.policy_file import MODES, NetworkMeta
from collab_overcooked.policies.registry import BUILT_IN
from collab_overcooked.policies.trained import NetworkPolicy

KEY = "collab_overcooked"  # of the description that export_policy writes into models and files of weights

Array = np.ndarray


class CustomNetwork(NetworkPolicy):
    """Custom network from a file.

    Args:
        meta: Description from ``export_policy``; empty if there is none.
        mode: ``"sample"`` or ``"greedy"``; if None the description's, or ``default_mode``.
        observation: Options of the observation that the network was trained on; None if they are not declared.
    """

    default_mode = "greedy"  # a module may give logits or values of actions

    def __init__(self, meta: Mapping[str, Any], mode: str | None, observation: Mapping[str, Any] | None) -> None:
        super().__init__(meta, mode or meta.get("mode", self.default_mode))
        self.declared = observation

    def observation_of(self, game: FullGame) -> Mapping[str, Any]:
        if self.declared is not None:
            return self.declared
        return select_observation(game.id, self.trained_on if self.meta else game.kwargs)


class SB3Policy(CustomNetwork):
    """Plays a model of Stable-Baselines3 or sb3-contrib, see ``CustomNetwork``.

    Args:
        policy: The model's policy.
        meta: Description from ``export_policy``; empty if there is none.
        mode: ``"sample"`` or ``"greedy"``; None for the default.
        observation: Options of the observation; None if they are not declared.
    """

    name = "sb3"

    def __init__(
        self, policy: Any, meta: Mapping[str, Any], mode: str | None, observation: Mapping[str, Any] | None
    ) -> None:
        self.policy = policy
        self.default_mode = "greedy" if sb3_family(policy) == "values" else "sample"
        super().__init__(meta, mode, observation)
        policy.set_training_mode(False)

    def observation_of(self, game: FullGame) -> Mapping[str, Any]:
        if self.declared is not None or self.meta:
            return super().observation_of(game)
        space = self.policy.observation_space
        fitting = [
            options for options in encodings(game) if Observer(game, options).variant.single_observation_space == space
        ]
        if len(fitting) == 1:
            return fitting[0]
        choices = [
            ",".join(f"{name}={value}" for name, value in options.items() if value is not None) for options in fitting
        ]
        why = f"{', '.join(choices)} all have its space" if choices else f"none has its space of shape {space.shape}"
        raise ValueError(
            f"it is not clear which observation of {game.id} it was trained on, as {why}; name it, as in "
            f"sb3:model.zip,{choices[0] if choices else 'obs=NAME'}, or save the model by export_policy"
        )

    def initial_state(self, rows: int) -> Array:
        return sb3_state(self.policy, rows)

    def forward(self, observations: Array, state: Array) -> tuple[Array, Array]:
        return sb3_forward(self.policy, observations, state)

    def _check(self, game: FullGame, seat: int) -> Observer:
        observer = super()._check(game, seat)
        for what, actual, expected in (
            ("observation", self.policy.observation_space.shape, observer.variant.single_observation_space.shape),
            ("number of actions", int(getattr(self.policy.action_space, "n", 0)), len(game.action_texts(seat=seat))),
        ):
            if actual != expected:
                raise ValueError(f"its {what} is {actual}, that of {game.id} is {expected}")
        return observer


def sb3_family(policy: Any) -> str:
    """Return the kind of a policy of Stable-Baselines3: ``"values"``, ``"recurrent"``, ``"actor"`` or ``""``.

    Its packages share no base class for each, so attributes tell: MaskablePPO's policy is not an ActorCriticPolicy.
    """
    attributes = {"values": "q_net", "recurrent": "lstm_actor", "actor": "get_distribution"}
    return next((family for family, attribute in attributes.items() if hasattr(policy, attribute)), "")


def sb3_state(policy: Any, rows: int) -> Array:
    """Return the hidden state (rows, H) that episodes of a policy of Stable-Baselines3 start with: zeros.

    The state of a recurrent policy has its outputs, layer after layer, and then its cells.

    Raises:
        ValueError: If the policy has other recurrent layers, such as those of a features extractor.
    """
    is_recurrent = sb3_family(policy) == "recurrent"
    layers, _, size = policy.lstm_hidden_state_shape if is_recurrent else (0, 1, 0)
    carried = [policy.lstm_actor, policy.lstm_critic] if is_recurrent else []
    if others := [layer for layer in recurrent_layers(policy) if not any(layer is one for one in carried)]:
        raise ValueError(
            f"{type(policy).__name__} has recurrent layers ({type(others[0]).__name__}) whose state cannot be carried "
            "from step to step; only the LSTM of sb3-contrib's RecurrentPPO can. Seat it as FILE.py:Class, a policy "
            "that carries the state"
        )
    return np.zeros((rows, 2 * layers * size), np.float32)


def sb3_forward(policy: Any, observations: Array, state: Array) -> tuple[Array, Array]:
    """Return the logits (B, A) of a policy of Stable-Baselines3, and its next hidden state (B, H).

    Raises:
        ValueError: The policy needs more than an observation.
    """
    import torch

    with torch.no_grad():
        tensor, _ = policy.obs_to_tensor(observations)
        family = sb3_family(policy)
        if family == "values":
            output = policy.q_net(tensor)
        elif family == "recurrent":
            layers, _, size = policy.lstm_hidden_state_shape
            before = torch.from_numpy(state).view(len(state), 2, layers, size).permute(1, 2, 0, 3).contiguous()
            going_on = torch.zeros(len(state))  # no row starts an episode here
            distribution, after = policy.get_distribution(tensor, tuple(before), going_on)
            output = distribution.distribution.logits
            state = torch.stack(after).permute(2, 0, 1, 3).flatten(1).numpy()
        elif family == "actor":
            output = policy.get_distribution(tensor).distribution.logits
        else:
            raise ValueError(f"{type(policy).__name__} needs more than an observation; seat it as FILE.py:Class")
    return output.numpy().astype(np.float32), state


def encodings(game: FullGame) -> Iterator[dict[str, Any]]:
    """Yield the observation options of a game: all combinations of options with a list of values."""
    names = observation_options(game.id)
    config = registry.game_class(game.id).config_class
    allowed = {entry.name: entry.metadata.get("allowed") for entry in fields(config) if entry.name in names}
    defaults = config()
    choices = [
        dict.fromkeys([getattr(defaults, name), *(allowed[name] or ())])  # the default may be None
        for name in names
    ]
    for values in itertools.product(*choices):
        options = dict(zip(names, values, strict=True))
        try:
            Observer(game, options)
        except ValueError:  # such as axes of a vector
            continue
        yield options


@runtime_checkable
class Recurrent(Protocol):
    """A module of torch that carries a state from step to step."""

    def initial_state(self, rows: int) -> Any:
        """Return the state (rows, H) of new episodes."""


class TorchPolicy(CustomNetwork):
    """Plays a module of torch that maps float32 observations (B, ...) to logits (B, A), see ``CustomNetwork``.

    A recurrent module has a method ``initial_state(rows)``, which returns the state (rows, H) of new episodes, and maps
    observations and state to logits and the next state.

    Args:
        module: The network; without ``initial_state``, the first entry counts of a tuple that it returns.
        meta: Description from ``export_policy``; empty if there is none.
        mode: ``"sample"`` or ``"greedy"``; None for the default.
        observation: Options of the observation; None if they are not declared.
    """

    name = "torch"

    def __init__(
        self, module: Any, meta: Mapping[str, Any], mode: str | None, observation: Mapping[str, Any] | None
    ) -> None:
        self.module = module.eval()  # before the initial state, which it makes
        super().__init__(meta, mode, observation)

    def initial_state(self, rows: int) -> Array:
        return torch_state(self.module, rows)

    def forward(self, observations: Array, state: Array) -> tuple[Array, Array]:
        return torch_forward(self.module, observations, state)


def recurrent_layers(module: Any) -> list[Any]:
    """Return the recurrent layers of a module of torch."""
    from torch import nn

    return [part for part in module.modules() if isinstance(part, nn.RNNBase | nn.RNNCellBase)]


def torch_state(module: Any, rows: int) -> Array:
    """Return the hidden state (rows, H) that episodes of a module of torch start with; H is 0 without memory.

    Raises:
        ValueError: If the module is recurrent and has no ``initial_state``, or returns another shape.
    """
    import torch

    name = type(module).__name__
    if not isinstance(module, Recurrent):
        if layers := recurrent_layers(module):
            raise ValueError(
                f"{name} is recurrent ({type(layers[0]).__name__}) and would forget its state after every step; give "
                "it initial_state(rows), which returns a state (rows, H), and forward(observations, state), which "
                "returns logits and the next state"
            )
        return np.zeros((rows, 0), np.float32)
    with torch.no_grad():
        state = module.initial_state(rows)
    if not isinstance(state, torch.Tensor) or state.ndim != 2 or len(state) != rows:
        raise ValueError(f"{name}.initial_state({rows}) must return a tensor of shape ({rows}, H)")
    return state.numpy().astype(np.float32)


def torch_forward(module: Any, observations: Array, state: Array) -> tuple[Array, Array]:
    """Return the logits (B, A) that a module of torch gives for observations, and its next hidden state (B, H).

    Raises:
        ValueError: Logits or the next state have another shape.
    """
    import torch

    inputs = torch.from_numpy(np.ascontiguousarray(observations, np.float32))
    is_recurrent = isinstance(module, Recurrent)
    with torch.no_grad():
        output = module(inputs, torch.from_numpy(state)) if is_recurrent else module(inputs)
    if is_recurrent:
        after = output[1] if isinstance(output, tuple) and len(output) == 2 else None
        if not isinstance(after, torch.Tensor) or after.shape != state.shape:
            raise ValueError(f"{type(module).__name__} must return logits and the next state of shape {state.shape}")
        state = after.numpy().astype(np.float32)
    output = output[0] if isinstance(output, tuple) else output
    if not isinstance(output, torch.Tensor) or output.ndim != 2 or len(output) != len(observations):
        raise ValueError(f"{type(module).__name__} must return logits of shape ({len(observations)}, actions)")
    return output.numpy().astype(np.float32), state


def sb3_from_text(text: str) -> SB3Policy:
    """Make the policy of ``model.zip``, ``model.zip,sample`` or ``model.zip,obs=features``.

    Raises:
        ValueError: The file holds no such policy.
    """
    path, mode, observation = _parse("sb3", text)
    _need("sb3")
    from stable_baselines3.common.save_util import load_from_zip_file

    file = io.BytesIO(read_bytes(path))
    try:
        data, parameters, _ = load_from_zip_file(file, device="cpu")
        assert data is not None
        space, actions = data["observation_space"], data["action_space"]
        policy = data["policy_class"](space, actions, lambda _: 0.0, **data["policy_kwargs"])
        policy.load_state_dict(parameters["policy"])
    except Exception as error:  # a pickle can raise anything
        raise _unreadable("sb3", path, error) from None
    return SB3Policy(policy, _checked(path, data.get(KEY, {})), mode, observation)


def torch_from_text(text: str) -> TorchPolicy:
    """Make the policy of ``file.py:Net@weights.pt``, with parameters as for ``sb3_from_text``.

    Raises:
        ValueError: The network or its weights are missing, unknown or of another kind.
    """
    names, mode, observation = _parse("torch", text)
    source, _, weights = str(names).partition("@")
    module_name, _, class_name = source.rpartition(":")
    if not module_name or not weights:
        named = re.split("[:@]", text.partition(",")[0])
        code = next((part for part in named if part.endswith(".py")), "file.py")
        weights = next((part for part in named if Path(part).suffix in (".pt", ".pth")), "weights.pt")
        class_name = next((part for part in named if part.isidentifier()), "Net")
        raise ValueError(
            f"policy {text!r} must name the class of its weights and the file of the class, as in "
            f"torch:{code}:{class_name}@{weights}; a network that needs no class is a .npz file of "
            "export_policy"
        )
    _need("torch")
    import torch

    module = plugins.load_module(module_name)
    kind = getattr(module, class_name, None)
    if not inspect.isclass(kind) or not issubclass(kind, torch.nn.Module):
        networks = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        raise ValueError(f"{module_name}: {near_matches('network', class_name, networks)}")
    file = io.BytesIO(read_bytes(weights))
    if zipfile.is_zipfile(file) and any("/code/" in name for name in zipfile.ZipFile(file).namelist()):
        raise ValueError(
            f"{weights}: a TorchScript archive has no weights for {class_name}; save them by "
            "torch.save(network.state_dict(), FILE) or export_policy"
        )
    file.seek(0)
    try:
        content = torch.load(file, map_location="cpu", weights_only=True)
        meta = _checked(Path(weights), content.get(KEY, {}))
        network: Any = kind(**_arguments(kind, meta))
        network.load_state_dict(content["state_dict"] if KEY in content else content)
    except Exception as error:
        raise _unreadable("torch", Path(weights), error) from None
    if observation is None:
        observation = getattr(kind, "observation", getattr(module, "observation", None))
    return TorchPolicy(network, meta, mode, observation)


def _arguments(kind: Any, meta: Mapping[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(kind).parameters
    names = [name for name in ("observation_shape", "n_actions") if name in parameters]
    unknown = [name for name in names if name not in meta and parameters[name].default is inspect.Parameter.empty]
    if unknown:
        raise ValueError(
            f"{kind.__name__} takes {' and '.join(unknown)}, which the file does not hold; write it by "
            "export_policy(network, FILE, env)"
        )
    return {name: meta[name] for name in names if name in meta}


def _parse(name: str, text: str) -> tuple[Path, str | None, dict[str, Any] | None]:
    path, *parameters = (part.strip() for part in text.split(","))
    if not path:
        raise ValueError(f"policy {name!r} needs a file, as in {BUILT_IN[name].usage}")
    mode: str | None = None
    observation: dict[str, Any] = {}
    for parameter in parameters:
        option, equals, value = parameter.partition("=")
        if equals:
            refuse_twice(f"policy {name!r}", option.strip(), observation)
            observation[option.strip()] = value.strip()
        elif parameter in MODES:
            if mode is not None:
                raise ValueError(f"policy {name!r}: its mode is given twice, {mode} and {parameter}; keep one")
            mode = parameter
        else:
            raise ValueError(f"policy {name!r}: {near_matches('mode', parameter, MODES)}")
    return Path(path), mode, observation or None


def _need(name: str) -> None:
    module = {"sb3": "stable_baselines3", "torch": "torch"}[name]
    try:
        __import__(module)
        if name == "sb3":
            __import__("sb3_contrib")  # models of MaskablePPO name its classes
    except ImportError as error:
        raise ValueError(
            f"policy {name!r} needs more packages ({error}): pip install 'collab-overcooked[rl]'"
        ) from None


def _unreadable(name: str, path: Path, error: Exception) -> ValueError:
    problem = " ".join(f"{type(error).__name__}: {error}".split())
    return ValueError(f"{path}: policy {name!r} cannot be made from it: {problem:.300}")


def _checked(path: Path, meta: Any) -> Mapping[str, Any]:
    try:
        if meta != {}:
            convert(schema.json_value(meta), NetworkMeta)
    except ValueError as error:
        raise ValueError(f"{path}: {KEY}: {error}") from None
    checked: Mapping[str, Any] = meta
    return checked
