"""Registry of policies: all specs that a seat of a team accepts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from collab_overcooked import plugins
from collab_overcooked.io.checks import near_matches, quote_value

Factory = str | Callable[..., Any]
"""Function of the text after the name in a spec, or policy class; or its ``"package.module:name"``.

A class takes its parameters, as in ``"width=500,replan=50"``, as an instance of its ``options_class``; see
``parameters.PolicyOptions``.
"""

LANGUAGE = "language"  # kind of policies with a language model
HUMAN = "human"
PERSON = "person"  # spec of a seat that a person plays
# Kinds of a user's files in specs: Python code, weights of a network, and what a language model is told or loaded from
MODULE, WEIGHTS, SETTINGS = "module", "weights", "settings"


@dataclass(frozen=True)
class PolicyEntry:
    """Description of a policy, available without importing it."""

    name: str  # Name in specs, before the first colon
    kind: str  # ``"scripted"``, ``"search"`` (on the game's true dynamics), ``"RL"``, ``"language"`` or ``"human"``
    usage: str  # Syntax of its specs
    summary: str  # One line for listings
    factory: Factory = ""  # See ``parameters.load_factory``; empty for policies provided by games
    role: str = ""  # Role under which games provide it, see ``registry.GameSpec.policies``
    players: int = 0  # Number of the policies whose play it changes, see ``policies.wrappers``
    # The user's files in its parameters: a pattern for each of ``MODULE``, ``WEIGHTS`` and ``SETTINGS``, whose group is
    # the path
    files: Mapping[str, str] = field(default_factory=dict)
    holds_code: bool = False  # Whether reading its files of weights runs code in them


RECORDS: tuple[PolicyEntry, ...] = (
    PolicyEntry(
        name="random",
        factory="collab_overcooked.policies.random:RandomPolicy",
        kind="scripted",
        usage="random",
        summary="Samples uniformly from the accepted actions; plays every game.",
    ),
    PolicyEntry(
        name="always",
        factory="collab_overcooked.policies.listed:always_from_text",
        kind="scripted",
        usage="always:K|random|nothing|never-idle|never-repeat|alphabetical|longest|most-mentioned|newest|rarest"
        "|round-robin[,shuffled|game][,legal|vocabulary]",
        summary="Answers numbered lists of actions by a rule without understanding; plays every game.",
    ),
    PolicyEntry(
        name="reference",
        role="reference",
        kind="scripted",
        usage="reference[:number]",
        summary="Executes its seat's part of a reference trajectory of the task; N selects one, the first by default.",
    ),
    PolicyEntry(
        name="greedy",
        role="greedy",
        kind="scripted",
        usage="greedy",
        summary="Chains recipes backwards from the orders and takes the most useful action; plays every game.",
    ),
    PolicyEntry(
        name="planner",
        role="planner",
        kind="search",
        usage="planner[:parameter=N,...]",
        summary="Searches joint plans on the true dynamics with resampled randomness; specific to each game.",
    ),
    PolicyEntry(
        name="selfish",
        role="selfish",
        kind="search",
        usage="selfish",
        summary="One agent does everything as well as it can, the others do nothing.",
    ),
    PolicyEntry(
        name="rhp",
        role="rhp",
        kind="scripted",
        usage="rhp",
        summary="Rule-based hierarchical planner: containers first, then targets, then delivery; no messages.",
    ),
    PolicyEntry(
        name="mhp",
        role="mhp",
        kind="search",
        usage="mhp[:simulations=N,depth=N]",
        summary="Tree search over subgoals in beliefs that are sampled from the seat's observations.",
    ),
    PolicyEntry(
        name="mcts",
        factory="collab_overcooked.policies.search.mcts:from_text",
        kind="search",
        usage="mcts[:simulations=N,depth=N,...]",
        summary="Monte Carlo tree search on the true dynamics with resampled randomness; plays every game.",
    ),
    PolicyEntry(
        name="cots",
        factory="collab_overcooked.policies.search.cots:from_text",
        kind="search",
        usage="cots[:mode=cots|dfs|talk|cot,n=N,w=X,...]",
        summary="Seats search a joint plan together, each with its own knowledge; plays games with sub-plans.",
    ),
    PolicyEntry(
        name="llm",
        factory="collab_overcooked.policies.llm.agents:from_text",
        files={SETTINGS: r"^([^?]*\.ya?ml)\s*(?=\?|$)|[?,]\s*(?:prompts|local)\s*=([^,]*)"},
        kind=LANGUAGE,
        usage="llm:model[?switch=value,...]",
        summary="A language model behind any OpenAI-compatible endpoint, or from a file; plays every game.",
    ),
    PolicyEntry(
        name="ppo",
        factory="collab_overcooked.policies.trained:from_text",
        files={WEIGHTS: r"^([^,]*\.npz)\s*(?:,|$)"},
        kind="RL",
        usage="ppo:name-or-file[,sample|greedy]",
        summary="A trained network, built-in or custom, also named by the path of its .npz file alone; plays its game.",
    ),
    PolicyEntry(
        name="mat",
        factory="collab_overcooked.baselines.mat:from_text",
        files={WEIGHTS: r"^([^,]*\.npz)\s*(?:,|$)"},
        kind="RL",
        usage="mat:file[,sample|greedy]",
        summary="A multi-agent transformer, which plays all seats by the observations of all (central execution).",
    ),
    PolicyEntry(
        name="sb3",
        factory="collab_overcooked.policies.networks:sb3_from_text",
        files={WEIGHTS: r"^([^,]*)"},
        holds_code=True,
        kind="RL",
        usage="sb3:model.zip[,sample|greedy][,obs=name]",
        summary="A model of Stable-Baselines3 or sb3-contrib that you saved; it is a pickle, so play only your own.",
    ),
    PolicyEntry(
        name="torch",
        factory="collab_overcooked.policies.networks:torch_from_text",
        files={MODULE: r"^([^@]*):[^:@]*@", WEIGHTS: r"^[^@]*:[^:@]*@([^,]*)"},
        kind="RL",
        usage="torch:file.py:Net@weights.pt[,sample|greedy][,obs=name]",
        summary="A torch module of yours with its weights, which maps observations to logits.",
    ),
    PolicyEntry(
        name="proxy",
        role="proxy",
        kind="RL",
        usage="proxy:bc|ppo_bc",
        summary="A proxy for people, built-in for each layout: a clone of noisy play, or a policy trained with one.",
    ),
    PolicyEntry(
        name="slow",
        factory="collab_overcooked.policies.wrappers:slow_from_text",
        players=1,
        kind="scripted",
        usage="slow:K[:policy]",
        summary="Decides as another policy, but at every K-th step only; it idles in between.",
    ),
    PolicyEntry(
        name="late",
        factory="collab_overcooked.policies.wrappers:late_from_text",
        players=1,
        kind="scripted",
        usage="late:T[:policy]",
        summary="Idles until timestep T, then plays as another policy.",
    ),
    PolicyEntry(
        name="switch",
        factory="collab_overcooked.policies.wrappers:switch_from_text",
        players=2,
        kind="scripted",
        usage="switch:T:policy+policy",
        summary="Plays as the first policy before timestep T and as the second from then on.",
    ),
    PolicyEntry(
        name="noisy",
        factory="collab_overcooked.policies.wrappers:noisy_from_text",
        players=1,
        kind="scripted",
        usage="noisy:probability[:policy]",
        summary="Plays as another policy, but takes a random accepted action with the given probability.",
    ),
    PolicyEntry(
        name="forgetful",
        factory="collab_overcooked.policies.wrappers:forgetful_from_text",
        players=1,
        kind="scripted",
        usage="forgetful:probability[:policy]",
        summary="Plays as another policy, but repeats its last action with the given probability.",
    ),
    PolicyEntry(
        name="short_sighted",
        factory="collab_overcooked.policies.wrappers:short_sighted_from_text",
        players=1,
        kind="scripted",
        usage="short_sighted:R[:policy]",
        summary="Plays as another policy; after R steps without an event of its own it wanders for R steps.",
    ),
    PolicyEntry(
        name="role",
        factory="collab_overcooked.policies.wrappers:role_from_text",
        players=1,
        kind="scripted",
        usage="role:event[+event...][:policy]",
        summary="Plays as another policy, restricted to actions whose events have one of these names in theirs.",
    ),
    PolicyEntry(
        name="convention",
        factory="collab_overcooked.policies.wrappers:convention_from_text",
        players=1,
        kind="scripted",
        usage="convention:clockwise|counterclockwise|avoid=PLACE[:policy]",
        summary="Plays as another policy, in one direction round the grid only, or without using a place.",
    ),
    PolicyEntry(
        name="say",
        factory="collab_overcooked.policies.speakers:say_from_text",
        players=1,
        kind="scripted",
        usage="say:nothing|random|intent|seen[:policy]",
        summary="Plays as another policy and says symbols: none, random ones, its next target, or what it alone knows.",
    ),
    PolicyEntry(
        name=PERSON,
        factory="collab_overcooked.policies.person:from_text",
        kind=HUMAN,
        usage=PERSON,
        summary="A person at a page; only `collab-overcooked play` and `study` seat people.",
    ),
)

BUILT_IN = {record.name: record for record in RECORDS}

CUSTOM_KINDS = ("scripted", "search", "RL")
_custom: dict[str, PolicyEntry] = {}  # by name


def register_policy(
    name: str, factory: Factory, *, kind: str = "scripted", usage: str = "", summary: str = "A custom policy."
) -> None:
    """Add a custom policy, so that teams can name it; registering its name again replaces it.

    Worker processes know it, too, if they can import its factory. One that is defined in a script, a notebook or a
    function plays in threads of this process.

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
    if name in BUILT_IN:
        raise ValueError(f"policy {name!r} is a policy of this package; choose another name")
    if kind not in CUSTOM_KINDS:
        raise ValueError(near_matches("kind of policy", kind, CUSTOM_KINDS))
    if not (callable(factory) or (isinstance(factory, str) and ":" in factory)):
        raise ValueError(f"factory of policy {name!r} must be a class, a function or 'module:name', not {factory!r}")
    _custom[name] = PolicyEntry(name, kind, usage or name, summary, factory)


def custom_policies() -> tuple[PolicyEntry, ...]:
    """Return the custom policies and the policies of loaded plug-ins."""
    return tuple(_custom.values())


def adopt_policies(records: Iterable[PolicyEntry]) -> None:
    """Add the custom policies of another process."""
    _custom.update({record.name: record for record in records})


def _register_plugin(name: str, policy: Any) -> None:
    """Register the policy of an entry point, unless its name is already registered."""
    if name not in _custom:
        register_policy(name, policy, kind=_kind_of(policy), summary=_first_line(policy))


def _kind_of(policy: Any) -> str:
    return str(getattr(policy, "kind", "scripted"))


def _first_line(factory: Any) -> str:
    return (inspect.getdoc(factory) or "A custom policy.").partition("\n")[0]


def policy_records() -> tuple[PolicyEntry, ...]:
    """Return all policies, including those of installed plug-ins."""
    plugins.load(plugins.POLICIES, _register_plugin)
    return (*RECORDS, *_custom.values())


def policy_names() -> list[str]:
    """Return the names of all policies."""
    return [record.name for record in policy_records()]


def outside_record(module: str, class_name: str) -> PolicyEntry:
    """Return the description of a policy class in a module or file, which is loaded.

    Raises:
        ValueError: If no command line or caller has named the module, see ``plugins.permit``, or for an unknown class.
    """
    if not class_name:
        raise ValueError(f"policy {module!r} needs a class, as in '{module}:MyPolicy' or '{module}:MyPolicy:width=5'")
    plugins.check_permitted(module)
    loaded = plugins.load_module(module)
    policy_class = getattr(loaded, class_name, None)
    if not callable(policy_class):
        classes = [name for name, value in vars(loaded).items() if inspect.isclass(value) and hasattr(value, "act")]
        raise ValueError(f"{module}: {near_matches('policy class', class_name, classes)}")
    kind = _kind_of(policy_class)
    if kind not in CUSTOM_KINDS:
        raise ValueError(f"{module}:{class_name}: {near_matches('kind of policy', kind, CUSTOM_KINDS)}")
    return PolicyEntry(f"{module}:{class_name}", kind, "", _first_line(policy_class), policy_class)
