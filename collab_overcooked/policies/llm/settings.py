"""How a language agent is written: ``llm:MODEL?switch=value,...``, or a YAML file with the same words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from collab_overcooked import registry
from collab_overcooked.io.checks import OptionError, near_matches
from collab_overcooked.io.documents import Document, load_file, placed
from collab_overcooked.io.redaction import HIDDEN, redact_values
from collab_overcooked.policies.llm.budget import Price, parse_prices
from collab_overcooked.policies.llm.client import EndpointConfig
from collab_overcooked.policies.llm.endpoint import check_address
from collab_overcooked.policies.search.deliberation import FALLBACKS, MODES, PROFILES

CHOOSE, PARTNER, DISPATCH, COTS = "choose", "partner", "dispatch", "cots"
COELA, ROCO, CAPO = "coela", "roco", "capo"
AUTO = "auto"
GENERIC = (CHOOSE, COELA, ROCO, CAPO)  # kinds that play every game
KINDS = (*GENERIC, COTS, PARTNER, DISPATCH)
USAGE = "llm:model[?switch=value,...]"
Value = bool | int | float | str


@dataclass(frozen=True)
class Switch:
    """Something that an agent can have, or have more or less of.

    Attributes:
        usual: Value by kind of agent; kinds that are not named do not have it.
        kind: ``"switch"`` (on or off), ``"count"`` (an integer; off is 0), ``"number"`` or ``"word"``.
        words: Allowed values of a word.
        summary: One line for the documentation.
    """

    usual: Mapping[str, Value]
    kind: str
    summary: str
    words: tuple[str, ...] = ()

    def read(self, name: str, value: Any) -> Value:
        """Read a value as written in a spec or in YAML.

        Raises:
            OptionError: Naming the switch and what is allowed.
        """
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
            value = int(value)
        if isinstance(value, str):
            value = {"on": True, "off": False, "yes": True, "no": False, "true": True, "false": False}.get(value, value)
        if self.kind == "switch" and isinstance(value, bool):
            return value
        if self.kind == "count" and isinstance(value, int) and value is not True and value >= 0:
            return int(value)
        if self.kind == "number" and value is not True and value is not False:
            try:
                return float(value)
            except (TypeError, ValueError):
                pass
        word = "off" if value is False else value
        if self.kind == "word" and word in self.words:
            return str(word)
        allowed = {"switch": "on or off", "count": "an integer, or off", "number": "a number"}.get(
            self.kind, ", ".join(self.words)
        )
        raise OptionError(name, f"policy 'llm': {name} must be {allowed}, not {value!r}")


SWITCHES: Mapping[str, Switch] = {
    "memory": Switch({CHOOSE: 5, PARTNER: 5, COELA: 10, ROCO: 10, CAPO: 10}, "count",
                     "How many of its own last actions the agent is shown."),
    "messages": Switch({PARTNER: 6, COELA: 3, ROCO: 6, CAPO: 6}, "count",
                       "How many of the last messages the agent is shown; partner: of earlier timesteps."),
    "decisions": Switch({PARTNER: 3}, "count", "How many of its own last plans the agent is shown."),
    "analysis": Switch(
        {CHOOSE: False, PARTNER: True, ROCO: True, CAPO: True},
        "switch",
        "Let the model write its thoughts before it decides.",
    ),
    "two_stage": Switch({COELA: True}, "switch", "Let the model think in a call of its own before it chooses."),
    "correct": Switch(
        {PARTNER: True, DISPATCH: False},
        "switch",
        "Ask again with the game's message when an action is refused (as often as --max-corrections allows).",
    ),
    "reflection": Switch(
        {CHOOSE: 0, PARTNER: 3}, "count", "After a refused action write a lesson; so many of the last ones are shown."
    ),
    "talk": Switch(
        {PARTNER: True, COELA: True},
        "switch",
        "Open and answer conversations (--max-turns messages at most); coela drafts a message before each choice.",
    ),
    "rounds": Switch({ROCO: 3, CAPO: 3}, "count", "Proposals of one discussion at most; off for none."),
    "fallback": Switch({COELA: "random", ROCO: "random", CAPO: "random"}, "word",
                       "What is done when no answer can be used.", ("random", "idle")),
    "recipe": Switch(
        {PARTNER: "steps"},
        "word",
        "The recipe as cooking steps, with the first one split into actions, as single actions of both agents, or as "
        "those with what is due put first.",
        ("steps", "split", "actions", "rearranged"),
    ),
    "helper": Switch({CHOOSE: False, PARTNER: False, COELA: False, ROCO: False, CAPO: False}, "switch",
                     "Add the directive to help the partner where it can."),
    "manual": Switch({CHOOSE: True, COELA: True, ROCO: True, CAPO: True}, "switch",
                     "Show the rules in the game's own words, where it has any."),
    "intention": Switch(
        {CHOOSE: False, PARTNER: False}, "switch", "Ask first, in a call of its own, what the partner will do next."
    ),
    "predict": Switch(
        {CHOOSE: False}, "switch", "Ask in the same answer, before the action, what the partner will do next."
    ),
    "alone": Switch({CHOOSE: False}, "switch", "Hide all that is said of partners, LLM-Co's single-agent ablation."),
    "check": Switch(
        {CHOOSE: 0, PARTNER: 0}, "count", "Have decisions judged in a call of their own; so many objections are heeded."
    ),
    "hints": Switch({DISPATCH: True}, "switch", "Show the inference knowledge, ten hints on how the kitchen works."),
    "feedback": Switch({DISPATCH: True}, "switch", "Report refused commands in the next step."),
    "history": Switch({DISPATCH: 2}, "count", "How many earlier pairs of state and commands are shown."),
    "demo": Switch({DISPATCH: "full"}, "word", "The one-shot demonstration: all of it, its first two steps, or none.",
                   ("full", "few", "off")),
    "demo_agents": Switch({DISPATCH: 0}, "count", "Number of agents in the demonstration; 0 for as many as play."),
    "mode": Switch({COTS: "cots"}, "word", "How joint plans are searched, see the policy cots.", MODES),
    "profile": Switch({COTS: "paper"}, "word", "As the paper has it, or as its public code does.", tuple(PROFILES)),
    "unsolved": Switch({COTS: "usual"}, "word", "What wins where no plan is good enough.", ("usual", *FALLBACKS)),
    "n": Switch({COTS: 3}, "count", "Plans that are asked for at once."),
    "depth": Switch({COTS: 2}, "count", "Most expansions of the tree."),
    "w": Switch({COTS: 1.0}, "number", "Weight of exploration."),
    "stop": Switch({COTS: 0.7}, "number", "Reward that ends the search."),
    "keep": Switch({COTS: 0}, "count", "Ratings above it keep the plan; 0 for the profile's."),
    "reasoning": Switch({COTS: True}, "switch", "Ask for reasoning before proposals, critiques, ratings and choices."),
    "parse": Switch({COTS: True}, "switch", "Let each seat's model choose the sub-plan that carries out its part; if "
                    "off, a program follows the plan."),
    "examples": Switch({COTS: True}, "switch", "Show a worked example with proposals and critiques."),
    "rating": Switch({COTS: "labelled"}, "word", "How ratings of the plan are asked for: each number with its meaning, "
                     "without the meanings, or as a bare question.", ("labelled", "unlabelled", "basic")),
    "charge": Switch({COTS: False}, "switch", "Say aloud what was talked about, at the game's price."),
}  # fmt: skip

_PLAIN: Mapping[str, str] = {
    "agent": "Kind of agent: auto, choose (one numbered action at a time), coela (five parts, a drafted message before "
    "each choice), roco or capo (all agree on a joint plan in words), which play every game; cots (seats search joint "
    "plans), which plays games with sub-plans; partner (plans and talks) or dispatch (one model commands all its "
    "seats), which play the games that are made for them.",
    "preset": "How a paper evaluated its agents; other words stand above it.",
    "answer": "Form of answers: schema (JSON, enforced where the endpoint can), text, or auto: text for dispatch, "
    "schema for the others.",
    "temperature": "Of sampling, 0 to 2.",
    "tokens": "Longest answer, thoughts of reasoning models included; 0 for no limit but the endpoint's own.",
    "repairs": "How often an unreadable answer is asked for again.",
    "prompts": "Folder with templates of one's own, looked in before the shipped ones.",
    "seed": "Of sampling, where the temperature is above 0, instead of the episode's.",
    "top_p": "Of sampling, above 0 to 1.",
    "effort": "Reasoning effort, such as low or high, where the model has one.",
    "base_url": "Endpoint of this model, if not that of --base-url.",
    "key_variable": "Environment variable with the key of this model's endpoint.",
    "local": "GGUF file that plays this model in this process.",
    "price": "Dollars per million tokens in and out: 2.5/10.",
    "body": "In a YAML file: further fields of the request.",
    "headers": "In a YAML file: further HTTP headers; a value such as $NAME is read from the environment.",
}
_REACH = ("base_url", "key_variable", "local", "headers")
_TEXTS = ("preset", "prompts", "effort", "base_url", "key_variable", "local")
_NUMBERS: Mapping[str, tuple[type, float, float]] = {
    "temperature": (float, 0, 2),
    "tokens": (int, 0, 1_000_000),
    "repairs": (int, 0, 10),
    "seed": (int, 0, 2**31),
    "top_p": (float, 0, 1),
}


@dataclass(frozen=True)
class AgentSettings:
    """A language agent as written, checked as far as it can be before the game is known.

    Attributes:
        model: Name by which the endpoint knows the model.
        preset: Name of the preset that other words stand above; empty for none.
        agent: Kind of agent.
        answer: Form of answers.
        temperature: Of sampling.
        tokens: Longest answer, in tokens, thoughts included; 0 for no limit but the endpoint's own.
        repairs: How often an unreadable answer is asked for again.
        prompts: Folder with one's own templates.
        seed: Of sampling; None for the episode's.
        body: Further fields of requests.
        reach: Where the model is; None for the usual endpoint.
        price: Of its tokens; None if prices are said elsewhere.
        switches: Values of those switches that were written.
    """

    model: str
    preset: str = ""
    agent: str = AUTO
    answer: str = "auto"
    temperature: float = 0.0
    tokens: int = 0
    repairs: int = 1
    prompts: str = ""
    seed: int | None = None
    body: Mapping[str, Any] = field(default_factory=dict)
    reach: EndpointConfig | None = None
    price: Price | None = None
    switches: Mapping[str, Value] = field(default_factory=dict)

    @property
    def json(self) -> bool:
        """Whether JSON is asked for by agents that do so unless told otherwise."""
        return self.answer != "text"

    def to_dict(self) -> dict[str, Any]:
        """Return all that is said, fit for JSON, without keys of endpoints."""
        said: dict[str, Any] = redact_values(asdict(self))
        if self.reach is not None:
            named = {name: text if text.startswith("$") else HIDDEN for name, text in self.reach.headers}
            said["reach"] = {name: value for name, value in said["reach"].items() if value} | {"headers": named}
        return {name: value for name, value in said.items() if value not in (None, "", {})}

    def for_agent(self, kind: str) -> dict[str, Value]:
        """Return the values of all switches that a kind of agent has.

        Raises:
            ValueError: If one was written that it does not have.
        """
        usual = {name: switch.usual[kind] for name, switch in SWITCHES.items() if kind in switch.usual}
        for name in self.switches:
            if name not in usual:
                raise OptionError(
                    name, f"policy 'llm': the agent {kind!r} has no switch {name!r}; it has {', '.join(usual)}"
                )
        return usual | dict(self.switches)


def describe_settings() -> list[tuple[str, str, str]]:
    """Return name, usual values and meaning of everything that may be written."""
    defaults = AgentSettings("")
    plain = [(name, _default(getattr(defaults, name, None)), words) for name, words in _PLAIN.items()]
    return plain + [
        (name, ", ".join(f"{kind} {_shown(value)}" for kind, value in switch.usual.items()), switch.summary)
        for name, switch in SWITCHES.items()
    ]


def _default(value: Any) -> str:
    return "0" if type(value) is int and not value else str(value or "none")


def _shown(value: Value) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def parse_settings(text: str) -> AgentSettings:
    """Read what follows ``llm:`` in a spec.

    Args:
        text: For example ``"gpt-4o?memory=5,reflection=off"``, or the path of a YAML file whose ``model`` and other
            words stand at the top level; words after a path's ``?`` replace the file's.

    Raises:
        ValueError: For a missing model, an unknown word or a bad value.
    """
    model, _, rest = text.partition("?")
    model = model.strip()
    file = Document("", {}, {})
    if model.endswith((".yaml", ".yml")):
        file = load_file(model, "agent")
        model = file.text("model", default="")
    words: dict[str, Any] = {}
    for part in filter(None, map(str.strip, rest.split(","))):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"policy 'llm': {part!r} should read switch=value")
        words[name.strip()] = value.strip()
    if not model:
        raise ValueError(f"policy 'llm' needs the name of a model: {USAGE}")
    switches = {name: value for name, value in file.items() if name != "model"} | words
    with placed(file.replace(words)):
        return _settings(model, switches)


def settings_of(spec: str) -> AgentSettings | None:
    """Return the settings of a language model's spec in a record; None if its file is gone, or it is none."""
    name, _, text = spec.strip().partition(":")
    try:
        return parse_settings(text) if name == "llm" else None
    except (ValueError, OSError):
        return None


def _settings(model: str, words: Mapping[str, Any]) -> AgentSettings:
    words = _with_preset(words)
    switches = {name: SWITCHES[name].read(name, value) for name, value in words.items() if name in SWITCHES}
    plain = {name: _plain(name, value) for name, value in words.items() if name not in SWITCHES}
    reach = {name: plain.pop(name) for name in _REACH if name in plain}
    if reach.get("local") and reach.get("base_url"):
        raise OptionError("local", "policy 'llm': give only one of base_url and local")
    body = {field: plain.pop(name) for name, field in _FIELDS.items() if name in plain} | plain.pop("body", {})
    settings = AgentSettings(
        model, body=body, reach=EndpointConfig(**reach) if reach else None, switches=switches, **plain
    )
    if settings.agent != AUTO:
        settings.for_agent(settings.agent)
    return settings


def _with_preset(words: Mapping[str, Any]) -> dict[str, Any]:
    """Return words with those of the preset that they name below them."""
    name = words.get("preset", "")
    if not name:
        return dict(words)
    known = registry.presets()
    if name not in known:
        raise OptionError("preset", f"policy 'llm': {near_matches('preset', name, known)}")
    return {**known[name].words, **words}


_FIELDS = {"top_p": "top_p", "effort": "reasoning_effort"}  # as the body of a request calls them


def _mapping(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise OptionError(name, f"policy 'llm': {name} must be a mapping in a YAML file, not {value!r}")
    return value


def _price(value: Any) -> Price:
    prices = parse_prices(str(value))
    if list(prices) != [""]:
        raise OptionError("price", f"policy 'llm': price must read 2.5/10, not {value!r}")
    return prices[""]


def _plain(name: str, value: Any) -> Any:
    if name not in _PLAIN:
        raise OptionError(name, f"policy 'llm': {near_matches('switch', name, [*_PLAIN, *SWITCHES])}")
    if name in _TEXTS:
        return check_address(str(value)) if name == "base_url" else str(value)
    if name in ("headers", "body"):
        found = _mapping(name, value)
        return found if name == "body" else tuple((key, str(text)) for key, text in found.items())
    if name == "price":
        return _price(value)
    if name in ("agent", "answer"):
        allowed = (AUTO, *KINDS) if name == "agent" else (AUTO, "schema", "text")
        if value not in allowed:
            raise OptionError(name, f"policy 'llm': {near_matches(name, value, allowed)}")
        return value
    kind, low, high = _NUMBERS[name]
    try:
        number = kind(str(value))
    except ValueError:
        number = -1
    if not low <= number <= high:
        raise OptionError(name, f"policy 'llm': {name} must be a number from {low} to {high}, not {value!r}")
    return number
