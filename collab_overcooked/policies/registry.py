"""Registry of policies: all specs that a seat of a team accepts."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collab_overcooked import plugins
from collab_overcooked.io.checks import near_matches, quote_value
from collab_overcooked.policies.api import Policy
from collab_overcooked.policies.specs import Factory, load_factory, split_wrapper

LANGUAGE = "language"  # kind of policies with a language model
HUMAN = "human"
PERSON = "person"  # spec of a seat that a person plays


@dataclass(frozen=True)
class PolicyRecord:
    """Description of a policy, available without importing it."""

    name: str  # Name in specs, before the first colon
    kind: str  # ``"scripted"``, ``"search"`` (on the game's true dynamics), ``"RL"``, ``"language"`` or ``"human"``
    usage: str  # Syntax of its specs
    summary: str  # One line for listings
    factory: Factory = ""  # Factory of the policy, see ``specs.load_factory``. Empty for policies provided by games.
    role: str = ""  # Role under which games provide it, see ``registry.GameRecord.policies``


MAX_SPEC = 1_000  # characters of a spec, as in records
RECORDS: tuple[PolicyRecord, ...] = (
    PolicyRecord(
        name="random",
        factory="collab_overcooked.policies.random:RandomPolicy",
        kind="scripted",
        usage="random",
        summary="Samples uniformly from the accepted actions; plays every game.",
    ),
    PolicyRecord(
        name="always",
        factory="collab_overcooked.policies.listed:always_from_text",
        kind="scripted",
        usage="always:K|random|nothing|never-idle|never-repeat|alphabetical[,shuffled|game]",
        summary="Answers numbered lists of actions by a blind rule, which reads no state; plays every game.",
    ),
    PolicyRecord(
        name="reference",
        role="reference",
        kind="scripted",
        usage="reference[:number]",
        summary="Executes its seat's part of a reference trajectory of the task; N selects one, the first by default.",
    ),
    PolicyRecord(
        name="noisy",
        role="noisy",
        kind="scripted",
        usage="noisy:probability[,number]",
        summary="The reference or a good policy, each decision replaced by a random one with the given probability.",
    ),
    PolicyRecord(
        name="greedy",
        role="greedy",
        kind="scripted",
        usage="greedy",
        summary="Chains recipes backwards from the orders and takes the most useful action; plays every game.",
    ),
    PolicyRecord(
        name="planner",
        role="planner",
        kind="search",
        usage="planner[:parameter=N,...]",
        summary="Searches joint plans on the true dynamics with resampled randomness; specific to each game.",
    ),
    PolicyRecord(
        name="scheduler",
        role="planner",
        kind="search",
        usage="scheduler[:rollouts=N,horizon=N]",
        summary="Alias of planner in games where it schedules ahead.",
    ),
    PolicyRecord(
        name="solver",
        role="planner",
        kind="search",
        usage="solver",
        summary="Alias of planner in games where it finds the best plan by exact search.",
    ),
    PolicyRecord(
        name="selfish",
        role="selfish",
        kind="search",
        usage="selfish",
        summary="One agent does everything as well as it can, the others do nothing.",
    ),
    PolicyRecord(
        name="rhp",
        role="rhp",
        kind="scripted",
        usage="rhp",
        summary="Rule-based hierarchical planner: containers first, then targets, then delivery; no messages.",
    ),
    PolicyRecord(
        name="mhp",
        role="mhp",
        kind="search",
        usage="mhp[:simulations=N,depth=N]",
        summary="Tree search over subgoals in beliefs that are sampled from the seat's observations.",
    ),
    PolicyRecord(
        name="mcts",
        factory="collab_overcooked.policies.search.mcts:from_text",
        kind="search",
        usage="mcts[:simulations=N,depth=N,...]",
        summary="Monte Carlo tree search on the true dynamics with resampled randomness; plays every game.",
    ),
    PolicyRecord(
        name="cots",
        factory="collab_overcooked.policies.search.cots:from_text",
        kind="search",
        usage="cots[:mode=cots|dfs|talk|cot,n=N,w=X,...]",
        summary="Seats search a joint plan together, each with its own knowledge; plays games with sub-plans.",
    ),
    PolicyRecord(
        name="llm",
        factory="collab_overcooked.policies.llm.agents:from_text",
        kind=LANGUAGE,
        usage="llm:model[?switch=value,...]",
        summary="A language model behind any OpenAI-compatible endpoint, or from a file; plays every game.",
    ),
    PolicyRecord(
        name="ppo",
        factory="collab_overcooked.policies.trained:from_text",
        kind="RL",
        usage="ppo:name-or-file[,sample|greedy]",
        summary="A trained network, built-in or custom; plays the game that it was trained on.",
    ),
    PolicyRecord(
        name="sb3",
        factory="collab_overcooked.policies.networks:sb3_from_text",
        kind="RL",
        usage="sb3:model.zip[,sample|greedy][,obs=name]",
        summary="A model of Stable-Baselines3 or sb3-contrib that you saved; it is a pickle, so play only your own.",
    ),
    PolicyRecord(
        name="torch",
        factory="collab_overcooked.policies.networks:torch_from_text",
        kind="RL",
        usage="torch:file.py:Net@weights.pt[,sample|greedy][,obs=name]",
        summary="A torch module of yours with its weights, which maps observations to logits.",
    ),
    PolicyRecord(
        name="proxy",
        role="proxy",
        kind="RL",
        usage="proxy:bc|ppo_bc",
        summary="A proxy for people, built-in for each layout: a clone of noisy play, or a policy trained with one.",
    ),
    PolicyRecord(
        name="slow",
        factory="collab_overcooked.policies.wrappers:slow_from_text",
        kind="scripted",
        usage="slow:K[:policy]",
        summary="Decides as another policy, but at every K-th step only; it idles in between.",
    ),
    PolicyRecord(
        name="late",
        factory="collab_overcooked.policies.wrappers:late_from_text",
        kind="scripted",
        usage="late:T[:policy]",
        summary="Idles until timestep T, then plays as another policy.",
    ),
    PolicyRecord(
        name="switch",
        factory="collab_overcooked.policies.wrappers:switch_from_text",
        kind="scripted",
        usage="switch:T:policy+policy",
        summary="Plays as the first policy before timestep T and as the second from then on.",
    ),
    PolicyRecord(
        name="forgetful",
        factory="collab_overcooked.policies.wrappers:forgetful_from_text",
        kind="scripted",
        usage="forgetful:probability[:policy]",
        summary="Plays as another policy, but repeats its last action with the given probability.",
    ),
    PolicyRecord(
        name="short_sighted",
        factory="collab_overcooked.policies.wrappers:short_sighted_from_text",
        kind="scripted",
        usage="short_sighted:R[:policy]",
        summary="Plays as another policy; after R steps without an event of its own it wanders for R steps.",
    ),
    PolicyRecord(
        name="role",
        factory="collab_overcooked.policies.wrappers:role_from_text",
        kind="scripted",
        usage="role:event[+event...][:policy]",
        summary="Plays as another policy, restricted to actions whose events have one of these names in theirs.",
    ),
    PolicyRecord(
        name="convention",
        factory="collab_overcooked.policies.wrappers:convention_from_text",
        kind="scripted",
        usage="convention:clockwise|counterclockwise|avoid=PLACE[:policy]",
        summary="Plays as another policy, in one direction round the grid only, or without using a place.",
    ),
    PolicyRecord(
        name=PERSON,
        factory="collab_overcooked.policies.person:from_text",
        kind=HUMAN,
        usage=PERSON,
        summary="A person at a page or a terminal; only `collab-overcooked play` and `study` seat people.",
    ),
)


CUSTOM_KINDS = ("scripted", "search", "RL")
_custom: dict[str, PolicyRecord] = {}  # by name


def register_policy(
    name: str, factory: Factory, *, kind: str = "scripted", usage: str = "", summary: str = "A custom policy."
) -> None:
    """Add a custom policy, so that teams can name it; registering its name again replaces it.

    Worker processes must import the module that calls this, too: use `--import`, `plugins.import_plugin`, or an entry
    point of the group ``collab_overcooked.policies``.

    Args:
        name: Name in specs.
        factory: A policy class, a function of the text after the name in a spec, or ``"package.module:name"`` of
            either. A class takes the integers named by its ``parameters``.
        kind: ``"scripted"``, ``"search"`` or ``"RL"``.
        usage: Syntax of its specs; its name if empty.
        summary: One line for listings.

    Raises:
        ValueError: For the name of a built-in policy or a name that is not an identifier, an unknown kind, or a factory
            that is neither callable nor a string.
    """
    if not isinstance(name, str) or not name.replace("-", "_").isidentifier():
        raise ValueError(f"name of a policy must be letters, digits, underscores and hyphens, not {quote_value(name)}")
    if any(record.name == name for record in RECORDS):
        raise ValueError(f"policy {name!r} is a policy of this package; choose another name")
    if kind not in CUSTOM_KINDS:
        raise ValueError(near_matches("kind of policy", kind, CUSTOM_KINDS))
    if not (callable(factory) or (isinstance(factory, str) and ":" in factory)):
        raise ValueError(f"factory of policy {name!r} must be a class, a function or 'module:name', not {factory!r}")
    _custom[name] = PolicyRecord(name, kind, usage or name, summary, factory)


def _register_plugin(name: str, policy: Any) -> None:
    """Register the policy of an entry point, unless its name is already registered."""
    if name not in _custom:
        register_policy(name, policy, kind=getattr(policy, "kind", "scripted"), summary=_first_line(policy))


def _first_line(factory: Any) -> str:
    return (inspect.getdoc(factory) or "A custom policy.").partition("\n")[0]


def policy_records() -> tuple[PolicyRecord, ...]:
    """Return all policies, including those of installed plug-ins."""
    plugins.load(plugins.POLICIES, _register_plugin)
    return (*RECORDS, *_custom.values())


def policy_names() -> list[str]:
    """Return the names of all policies."""
    return [record.name for record in policy_records()]


def find_policy(spec: str) -> tuple[PolicyRecord, str]:
    """Parse a spec: return the policy's record and the text of its parameters. All specs are parsed here."""
    if not isinstance(spec, str):
        raise ValueError(f"policy must be a text such as 'greedy', not {spec!r}")
    if len(spec) > MAX_SPEC:
        raise ValueError(f"policy {spec[:40]!r}... has {len(spec)} characters, allowed are {MAX_SPEC}")
    name, _, text = (part.strip() for part in spec.strip().partition(":"))
    for record in RECORDS:  # plug-ins are loaded for unknown names only
        if record.name == name:
            return record, text
    if outside_module(spec):
        class_name, _, parameters = (part.strip() for part in text.partition(":"))
        return _outside_record(name, class_name), parameters
    for record in policy_records():
        if record.name == name:
            return record, text
    raise ValueError(near_matches("policy", name, policy_names()))


def _outside_record(module: str, class_name: str) -> PolicyRecord:
    if not class_name:
        raise ValueError(f"policy {module!r} needs a class, as in '{module}:MyPolicy' or '{module}:MyPolicy:width=5'")
    loaded = plugins.load_module(module)
    policy_class = getattr(loaded, class_name, None)
    if not callable(policy_class):
        classes = [name for name, value in vars(loaded).items() if inspect.isclass(value) and hasattr(value, "act")]
        raise ValueError(f"{module}: {near_matches('policy class', class_name, classes)}")
    kind = getattr(policy_class, "kind", "scripted")
    if kind not in CUSTOM_KINDS:
        raise ValueError(f"{module}:{class_name}: {near_matches('kind of policy', kind, CUSTOM_KINDS)}")
    return PolicyRecord(f"{module}:{class_name}", kind, "", _first_line(policy_class), policy_class)


def _declare_observation(policy: Policy, spec: str) -> None:
    """Give a policy the ``observation`` that its module or file declares, unless it has one itself."""
    module = outside_module(spec)
    declared = getattr(plugins.load_module(module), "observation", None) if module else None
    if declared is not None and not hasattr(policy, "observation"):
        setattr(policy, "observation", declared)  # noqa: B010  (not part of the protocol)


def outside_module(spec: str) -> str:
    """Return the module or file in a spec; empty for a registered policy."""
    name = spec.strip().partition(":")[0].strip()
    return name if "." in name else ""


def outside_modules(spec: str) -> list[str]:
    """Return the modules and files with code that a spec names: of a policy, or of a network of torch."""
    if (wrapper := split_wrapper(spec)) is not None:
        return [module for player in wrapper[2] for module in outside_modules(player)]
    name, _, text = (part.strip() for part in spec.partition(":"))
    module = text.rpartition("@")[0].rpartition(":")[0] if name == "torch" else outside_module(spec)
    return [module] if module else []


def weight_files(spec: str) -> list[str]:
    """Return the user's files of weights that a spec names; the digests are part of a run's identity."""
    if (wrapper := split_wrapper(spec)) is not None:
        return [path for player in wrapper[2] for path in weight_files(player)]
    name, _, text = (part.strip() for part in spec.partition(":"))
    path = text.partition(",")[0].strip()
    if name == "torch":
        path = path.rpartition("@")[2]
    return [path] if name in ("sb3", "torch") or (name == "ppo" and path.endswith(".npz")) else []


def policy_paths(spec: str) -> list[Path]:
    """Return all files of weights that a spec names, the user's and built-in ones."""
    if (wrapper := split_wrapper(spec)) is not None:
        return [path for player in wrapper[2] for path in policy_paths(player)]
    record, text = find_policy(spec)
    if record.name == "ppo":
        from collab_overcooked.policies.policy_file import find_policy as find_policy_file

        return [find_policy_file(text.partition(",")[0].strip())]
    return [Path(path) for path in weight_files(spec)]


def resolve_paths(spec: str, folder: Path) -> str:
    """Return a spec whose relative paths of files start from a folder instead of the current one."""
    if (wrapper := split_wrapper(spec)) is not None:
        name, parameter, players = wrapper
        return f"{name}:{parameter}:{'+'.join(resolve_paths(player, folder) for player in players)}"
    for path in [*weight_files(spec), *filter(plugins.is_file, outside_modules(spec))]:
        spec = spec.replace(path, str(folder / path), 1)
    return spec


def kind_of(spec: str) -> str:
    """Return the kind of a spec's policy, see ``PolicyRecord``."""
    return find_policy(spec)[0].kind


def is_known(spec: str) -> bool:
    """Return whether a spec names a registered policy; runs with a custom `make` may use others."""
    try:
        find_policy(spec)
    except ValueError:
        return False
    return True


def is_language(spec: str) -> bool:
    """Return whether a spec names a registered language policy."""
    return any(record.kind == LANGUAGE and record.name == spec.strip().partition(":")[0] for record in RECORDS)


def reads_messages(spec: str) -> bool:
    """Return whether a spec's policy may read messages: people, language policies and custom ones do."""
    if (wrapper := split_wrapper(spec)) is not None:
        return any(map(reads_messages, wrapper[2]))
    return not is_known(spec) or bool(outside_module(spec)) or kind_of(spec) in (LANGUAGE, HUMAN)


def make_policy(spec: str) -> Policy:
    """Create a policy from its spec, for example ``"greedy"``, ``"noisy:0.2"`` or ``"planner:width=500"``.

    Args:
        spec: Name of the policy, optionally followed by a colon and its parameters. A policy that is not registered is
            named by its module or file: ``"package.module:Class"``, ``"file.py:Class"``, ``"file.py:Class:width=5"``.

    Returns:
        A policy, not yet reset, whose ``name`` is the spec.

    Raises:
        ValueError: For an unknown policy or invalid parameters.
    """
    record, text = find_policy(spec)
    policy = _make(record, text)
    policy.name = spec.strip()
    _declare_observation(policy, spec)
    return policy


def _make(record: PolicyRecord, text: str) -> Policy:
    if record.role:
        from collab_overcooked.policies.per_game import from_role

        return from_role(record.role, text)
    return load_factory(record.factory)(text)
