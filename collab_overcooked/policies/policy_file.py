"""Policy files: small networks in numpy, read without trusting the file.

A policy file is an ``.npz`` without pickles: the weights of each layer, and a JSON text with game, observations, and
the command, seed and number of steps of the training. Sizes are read from the headers before anything is unpacked, so
that a small file cannot allocate gigabytes.
"""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, NamedTuple, get_args

import numpy as np
from msgspec import Meta, Struct

from collab_overcooked.io import schema
from collab_overcooked.io.checks import near_matches, quote_value
from collab_overcooked.io.files import open_file, write_atomic
from collab_overcooked.io.structs import Name, Text, convert
from collab_overcooked.policies.action_history import MAX_PAST_ACTIONS, history_size

FORMAT = "collab-overcooked-policy/1"
SHIPPED = Path(__file__).parent / "weights"
PARTNERS = "partners"  # folder below it of policies that only partner pools name
STAND_INS = ("bc", "ppo_bc")  # name prefixes of proxies of people, see the policy ``proxy``
Mode = Literal["sample", "greedy"]
MODES: tuple[str, ...] = get_args(Mode)
Activation = Literal["relu", "tanh"]
ACTIVATIONS: tuple[str, ...] = get_args(Activation)
TRANSFORMER = "transformer"  # kind of the only layer of a ``TeamNetwork``
MEMORIES = {"gru": 3, "lstm": 4}  # kinds of layers with a memory, and their rows for each output
Layer = Literal["conv", "dense", "gru", "lstm", "transformer"]
META = "meta"
REFUSED = np.float32(-np.inf)  # logit of an action outside the mask, below any other
MAX_BYTES = 64 << 20  # of all arrays together, unpacked
MAX_LAYERS = 16
MAX_AGENTS = 64
MAX_HEADER = 4096  # bytes; numpy's own headers of such arrays have 128

Family = Literal["selfplay", "population", "preference", "scripted", "search", "noisy", "clone", "person", "llm"]
FAMILIES: tuple[str, ...] = get_args(Family)
Size = Annotated[int, Meta(ge=1, le=1 << 20)]

Array = np.ndarray


@dataclass(frozen=True)
class Network:
    """Layers of a policy."""

    scale: Array  # Factor of the input features, float32, broadcastable to the shape of an observation
    # Kind (``"conv"``: 3D input, odd kernel, zero padding; ``"dense"``; ``"gru"`` or ``"lstm"``, at most one), weight
    # and bias of each; weights in torch's layout, (out, in) and (out, in, height, width). A GRU of size H has
    # (3 H, in + H) and (6 H,): for the input and then for the state, each with reset gate, update gate and candidate.
    # An LSTM has (4 H, in + H) and (8 H,): input, forget, cell and output gate. All as in torch
    layers: tuple[tuple[str, Array, Array], ...]
    activation: str  # Function between layers, ``"relu"`` or ``"tanh"``; none after a memory

    @cached_property
    def memory(self) -> int:
        """Size of the hidden state: H of a GRU, 2 H of an LSTM with its cell; 0 without a memory."""
        sizes = [(kind, len(weight) // MEMORIES[kind]) for kind, weight, _ in self.layers if kind in MEMORIES]
        return sum(2 * size if kind == "lstm" else size for kind, size in sizes)

    def initial_state(self, rows: int) -> Array:
        """Return the hidden state at the start of an episode, zeros, float32 (rows, ``memory``)."""
        return np.zeros((rows, self.memory), np.float32)

    def forward(self, observations: Array, state: Array) -> tuple[Array, Array]:
        """Take a step.

        Args:
            observations: (B, ...).
            state: Hidden state, float32 (B, ``memory``).

        Returns:
            Unnormalised log probabilities, float32 (B, A), and the new hidden state.
        """
        x = observations.astype(np.float32) * self.scale
        for number, (kind, weight, bias) in enumerate(self.layers):
            if number and self.layers[number - 1][0] not in MEMORIES:
                x = np.maximum(x, 0.0) if self.activation == "relu" else np.tanh(x)
            if kind == "conv":
                x = _convolve(x, weight, bias)
            elif kind == "dense":
                x = x.reshape(len(x), -1) @ weight.T + bias
            elif kind == "gru":
                x = state = _gated(x.reshape(len(x), -1), state, weight, bias)
            else:
                state = _with_cell(x.reshape(len(x), -1), state, weight, bias)
                x = state[:, : len(weight) // 4]
        return x, state

    def logits(self, observations: Array) -> Array:
        """Return unnormalised log probabilities, float32 (B, A), of the first observations of episodes (B, ...)."""
        return self.forward(observations, self.initial_state(len(observations)))[0]


def choose(logits: Array, masks: Array, rng: np.random.Generator, mode: str) -> Array:
    """Choose actions.

    Args:
        logits: Unnormalised log probabilities (B, A).
        masks: (B, A), nonzero where an action is allowed.
        rng: Used by ``"sample"`` only.
        mode: ``"sample"`` from the probabilities or ``"greedy"`` for the most likely action.

    Returns:
        int64 (B,).
    """
    noise = rng.gumbel(size=logits.shape).astype(np.float32) if mode == "sample" else None
    chosen: Array = preferences(logits, masks, noise).argmax(-1)
    return chosen


def preferences(logits: Array, masks: Array, noise: Array | None = None) -> Array:
    """Return masked logits, float32 (B, A), plus noise: their argmax with Gumbel noise is a sample of the softmax."""
    masked = np.where(masks != 0, logits, REFUSED)
    return masked if noise is None else masked + noise


def _convolve(x: Array, weight: Array, bias: Array) -> Array:
    size = weight.shape[-1]
    border = size // 2
    padded = np.pad(x, ((0, 0), (0, 0), (border, border), (border, border)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(2, 3))  # (B, C, H, W, k, k)
    rows = windows.transpose(0, 2, 3, 1, 4, 5).reshape(len(x), *x.shape[2:], -1)
    return (rows @ weight.reshape(len(weight), -1).T + bias).transpose(0, 3, 1, 2)


def _gated(x: Array, state: Array, weight: Array, bias: Array) -> Array:
    size = state.shape[1]
    from_input = x @ weight[:, :-size].T + bias[: 3 * size]
    from_state = state @ weight[:, -size:].T + bias[3 * size :]
    gates = _sigmoid((from_input + from_state)[:, : 2 * size])
    candidate = np.tanh(from_input[:, 2 * size :] + gates[:, :size] * from_state[:, 2 * size :])
    return candidate + gates[:, size:] * (state - candidate)


def _with_cell(x: Array, state: Array, weight: Array, bias: Array) -> Array:
    size = state.shape[1] // 2
    inputs = np.concatenate([x, state[:, :size]], 1) @ weight.T + bias[: 4 * size] + bias[4 * size :]
    enter, forget, candidate, leave = np.split(inputs, 4, 1)
    cell = _sigmoid(forget) * state[:, size:] + _sigmoid(enter) * np.tanh(candidate)
    return np.concatenate([_sigmoid(leave) * np.tanh(cell), cell], 1)


def _sigmoid(x: Array) -> Array:
    return 0.5 + 0.5 * np.tanh(0.5 * x)  # cannot overflow


class TeamNetwork(Network):
    """Multi-agent transformer: one layer with all weights, and its bias with width and number of agents."""

    def forward(self, observations: Array, state: Array) -> tuple[Array, Array]:
        """Refuse: it chooses for a whole team."""
        raise ValueError("the file chooses for a whole team; seat it as all=mat:FILE")


class Met(NamedTuple):
    """A partner that a policy was trained beside."""

    policy: str  # Policy spec or name of the partner
    sha256: str  # Hexadecimal digest of its policy file, see ``file_digest``; empty for a policy without a file
    family: str  # One of ``FAMILIES``


class _MetEntry(Struct):
    policy: Name
    sha256: Text
    family: Family

    def __post_init__(self) -> None:
        if not re.fullmatch(r"([0-9a-f]{64})?", self.sha256):
            digest = "a SHA-256 digest of 64 hexadecimal digits, or an empty text"
            raise ValueError(f"sha256 must be {digest}, not {quote_value(self.sha256)}")


class NetworkMeta(Struct):
    """What files with a network say of its game; they may say more."""

    env_id: Text
    env_kwargs: dict[str, Any]
    observation_shape: Annotated[list[Size], Meta(min_length=1, max_length=4)]
    n_actions: Size
    mode: Mode


class _Format(Struct):
    format: Any

    def __post_init__(self) -> None:
        schema.read(schema.one_of((FORMAT,)), self.format, "format")


class _History(Struct):
    steps: Annotated[int, Meta(ge=1, le=MAX_PAST_ACTIONS)]
    agents: Annotated[int, Meta(ge=1, le=MAX_AGENTS)]


class _FileMeta(NetworkMeta, kw_only=True):
    layers: Annotated[list[Layer], Meta(min_length=1, max_length=MAX_LAYERS)]
    activation: Activation
    algorithm: Text = ""
    command: Text = ""
    seed: Annotated[int, Meta(ge=0, le=1 << 62)] = 0
    steps: Annotated[int, Meta(ge=0, le=1 << 62)] = 0
    version: Text = ""
    score: dict[str, Any] | None = None
    met: list[_MetEntry] = []
    history: _History | None = None


@dataclass(frozen=True)
class PolicyFile:
    """Content of a policy file."""

    network: Network  # Network of the policy
    # ``env_id`` and ``env_kwargs`` of the game; ``observation_shape``, ``n_actions``; ``mode``, the default mode of
    # play; ``history`` for networks that also read past actions, the number of ``steps`` and of ``agents`` (see
    # ``action_history``); the origin: ``algorithm``, ``command``, ``seed``, ``steps``, ``score``, ``version`` of
    # the package; and ``met``, the partners of the training, see ``with_met``
    meta: Mapping[str, Any]

    def save(self, path: Path, dtype: type[np.floating[Any]] = np.float16) -> None:
        """Write the file; weights are kept in half precision by default."""
        arrays: dict[str, Any] = {"scale": self.network.scale}
        for number, (_, weight, bias) in enumerate(self.network.layers):
            with np.errstate(over="ignore"):  # what does not fit becomes infinite, and is refused
                arrays[f"weight_{number}"] = weight.astype(dtype)
                arrays[f"bias_{number}"] = bias.astype(dtype)
        about = dict(self.meta) | {
            "format": FORMAT,
            "layers": [kind for kind, _, _ in self.network.layers],
            "activation": self.network.activation,
        }
        arrays[META] = np.array(json.dumps(about))
        file = io.BytesIO()
        np.savez_compressed(file, **arrays)
        _read(file, path)
        write_atomic(path, file.getvalue())

    @cached_property
    def met(self) -> tuple[Met, ...]:
        """Partners that the policy was trained beside; empty after self-play."""
        return tuple(Met(*(entry[name] for name in Met._fields)) for entry in self.meta.get("met", ()))

    @cached_property
    def mode(self) -> str:
        """Default mode of play."""
        return str(self.meta["mode"])

    @cached_property
    def history(self) -> int:
        """Number of steps whose actions the network reads after the observation; 0 for none."""
        return int(self.meta.get("history", {}).get("steps", 0))


def with_met(file: PolicyFile, partners: Iterable[Met]) -> PolicyFile:
    """Return the policy with more met partners in its metadata."""
    met = dict.fromkeys((*file.met, *partners))
    return PolicyFile(file.network, {**file.meta, "met": [partner._asdict() for partner in met]})


def halved(file: PolicyFile) -> PolicyFile:
    """Return a policy with its weights rounded to half precision, as stored in files."""
    layers = tuple(
        (kind, weight.astype(np.float16).astype(np.float32), bias.astype(np.float16).astype(np.float32))
        for kind, weight, bias in file.network.layers
    )
    return replace(file, network=replace(file.network, layers=layers))


def read_policy(path: Path) -> PolicyFile:
    """Read a policy file."""
    with open_file(path) as file:
        return _read(file, path)


def _read(file: BinaryIO, path: Path) -> PolicyFile:
    try:
        with zipfile.ZipFile(file) as archive:
            meta = _read_meta(archive)
            return PolicyFile(_read_network(archive, meta), meta)
    except (ValueError, KeyError, TypeError, RecursionError, NotImplementedError, RuntimeError, EOFError) as error:
        raise ValueError(f"{path}: is not a policy file: {' '.join(str(error).split())}") from None
    except Exception as error:  # damaged archives fail in many ways, some of them zlib's own
        raise ValueError(f"{path}: is not a policy file: {type(error).__name__}: {error}") from None


def _read_meta(archive: zipfile.ZipFile) -> dict[str, Any]:
    total = sum(entry.file_size for entry in archive.infolist())
    if total > MAX_BYTES:
        raise ValueError(f"its arrays have {total:,} bytes together; at most {MAX_BYTES:,} are allowed")
    text = _read_array(archive, META, "U")
    if text.shape != ():
        raise ValueError(f"{META} must be one text, not an array of shape {text.shape}")
    meta: dict[str, Any] = schema.parse_json(str(text))
    convert(meta, _Format)  # first, as other formats may have other fields
    convert(meta, _FileMeta)
    return meta


def _read_network(archive: zipfile.ZipFile, meta: Mapping[str, Any]) -> Network:
    shape: tuple[int, ...] = tuple(meta["observation_shape"])
    if history := meta.get("history"):
        shape = (math.prod(shape) + history_size(history["steps"], history["agents"], meta["n_actions"]),)
    scale = _read_numbers(archive, "scale")
    if len(scale.shape) > len(shape) or any(
        have not in (1, want) for have, want in zip(scale.shape[::-1], shape[::-1], strict=False)
    ):
        raise ValueError(f"scale has shape {scale.shape}, which does not fit observations of shape {shape}")
    layers = []
    if sum(kind in MEMORIES for kind in meta["layers"]) > 1:
        raise ValueError(f"layers: at most one may be a {' or '.join(MEMORIES)}")
    for number, kind in enumerate(meta["layers"]):
        weight = _read_numbers(archive, f"weight_{number}")
        bias = _read_numbers(archive, f"bias_{number}")
        if kind == TRANSFORMER:
            if (len(meta["layers"]), weight.ndim, bias.shape) != (1, 1, (2,)) or not 2 <= bias[1] <= MAX_AGENTS:
                raise ValueError("a transformer is the only layer: its weights in a row, then width and agents")
            return TeamNetwork(scale, ((kind, weight, bias),), meta["activation"])
        shape = _shape_after(kind, f"weight_{number}", weight, shape)
        size = (2 * MEMORIES[kind] * shape[0],) if kind in MEMORIES else shape[:1]
        if bias.shape != size:
            raise ValueError(f"bias_{number} has shape {bias.shape}, its weight asks for {size}")
        layers.append((kind, weight, bias))
    if shape != (meta["n_actions"],):
        raise ValueError(f"the last layer has shape {shape}, n_actions asks for ({meta['n_actions']},)")
    return Network(scale, tuple(layers), meta["activation"])


def _shape_after(kind: str, name: str, weight: Array, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the output shape of a layer for an input shape."""
    if kind == "dense":
        size = math.prod(shape)
        if weight.ndim != 2 or weight.shape[1] != size or not weight.shape[0]:
            raise ValueError(f"{name} has shape {weight.shape}, a dense layer here needs (N, {size})")
        return (weight.shape[0],)
    if kind in MEMORIES:
        size, rows = math.prod(shape), MEMORIES[kind]
        if weight.ndim != 2 or not weight.shape[0] or weight.shape[0] != rows * (weight.shape[1] - size):
            raise ValueError(f"{name} has shape {weight.shape}, a {kind} here needs ({rows} H, {size} + H)")
        return (weight.shape[0] // rows,)
    if len(shape) != 3:
        raise ValueError(f"{name} belongs to a convolution, which needs inputs of 3 axes, not of shape {tuple(shape)}")
    sizes = weight.shape
    if len(sizes) != 4 or sizes[1] != shape[0] or sizes[2] != sizes[3] or sizes[2] % 2 == 0 or not sizes[0]:
        raise ValueError(f"{name} has shape {sizes}, a convolution here needs (N, {shape[0]}, K, K) with odd K")
    return (sizes[0], shape[1], shape[2])


def _read_numbers(archive: zipfile.ZipFile, name: str) -> Array:
    with np.errstate(over="ignore"):  # numbers out of range become infinite, and are refused
        array = _read_array(archive, name, "f").astype(np.float32)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds numbers that are not finite")
    return array


def _read_array(archive: zipfile.ZipFile, name: str, kind: str) -> Array:
    """Read one array of the archive, not more bytes than its entry declares.

    Args:
        archive: Opened file.
        name: Name of the array.
        kind: Required kind of dtype, ``"f"`` or ``"U"``.
    """
    try:
        entry = archive.getinfo(f"{name}.npy")
    except KeyError:
        raise ValueError(f"array {name} is missing") from None
    with archive.open(entry) as file:
        data = file.read(entry.file_size + 1)
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"array {name} has a header of version {version}")
    try:
        shape, by_column, dtype = readers[version](stream, max_header_size=MAX_HEADER)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise ValueError(f"array {name} has an unreadable header ({type(error).__name__})") from None
    if dtype.kind != kind or dtype.hasobject:
        raise ValueError(f"array {name} has type {dtype.str!r}; needed are {'numbers' if kind == 'f' else 'letters'}")
    if not all(type(size) is int and 0 <= size <= MAX_BYTES for size in shape):
        raise ValueError(f"array {name} has shape {shape!r:.80}")
    left = len(data) - stream.tell()
    if math.prod(shape) * dtype.itemsize != left:
        raise ValueError(f"array {name} of shape {shape!r:.80} has {left} bytes")
    flat = np.frombuffer(data, dtype, math.prod(shape), stream.tell())
    return flat.reshape(shape, order="F" if by_column else "C")


def builtin_policies() -> list[str]:
    """Return the names of the built-in policies."""
    return sorted(path.stem for path in SHIPPED.glob("*.npz"))


def builtin_partners() -> list[str]:
    """Return the names of the built-in policies of partner pools, ``partners/NAME``."""
    return sorted(f"{PARTNERS}/{path.stem}" for path in (SHIPPED / PARTNERS).glob("*.npz"))


def is_stand_in(name: str) -> bool:
    """Return whether a built-in policy is a proxy of people."""
    return name.startswith(tuple(f"{kind}_" for kind in STAND_INS))


def split_mode(policy: str, text: str) -> tuple[str, str | None]:
    """Return the file or name of a spec's parameters and the mode after a comma, None without one.

    Raises:
        ValueError: The mode is unknown.
    """
    name, _, mode = (part.strip() for part in text.partition(","))
    if mode and mode not in MODES:
        raise ValueError(f"policy {policy!r}: {near_matches('mode', mode, MODES)}")
    return name, mode or None


def policy_path(text: str) -> Path:
    """Return the file of a built-in name or path.

    Raises:
        ValueError: The name is missing or unknown.
    """
    if text in builtin_policies() or text in builtin_partners():
        return SHIPPED / f"{text}.npz"
    if text.endswith(".npz"):
        return Path(text)
    if not text:
        raise ValueError("policy 'ppo' needs a name or a file, for example 'ppo:runs/cramped_room/policy.npz'")
    raise ValueError(f"{near_matches('trained policy', text, builtin_policies())}; or give the path of an .npz file")
