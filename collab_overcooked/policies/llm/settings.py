"""Settings of language agents: specs ``llm:MODEL?switch=value,...``, or YAML files with the same switches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from collab_overcooked import registry
from collab_overcooked.game_spec import MENUS
from collab_overcooked.io.checks import OptionError, near_matches, refuse_twice
from collab_overcooked.io.documents import Document, load_file, placed
from collab_overcooked.io.redaction import HIDDEN, redact_values
from collab_overcooked.policies.listed import ORDERS, PATIENCE, SHUFFLED
from collab_overcooked.policies.llm.budget import Price, parse_prices
from collab_overcooked.policies.llm.client import TRANSPORTS
from collab_overcooked.policies.llm.exchange import EndpointConfig
from collab_overcooked.policies.llm.images import SEES
from collab_overcooked.policies.llm.tools import CHANNELS, TEXT
from collab_overcooked.policies.llm.transport import NO_BATCHES, check_address
from collab_overcooked.policies.registry import BUILT_IN
from collab_overcooked.policies.search.deliberation import FALLBACKS, MODES, PROFILES
from collab_overcooked.policies.specs import PolicySpec

CHOOSE = "choose"
PARTNER = "partner"
DISPATCH = "dispatch"
COTS = "cots"
COELA, ROCO, CAPO = "coela", "roco", "capo"
AUTO = "auto"
GENERIC = (CHOOSE, COELA, ROCO, CAPO)  # kinds for all games
KINDS = (*GENERIC, COTS, PARTNER, DISPATCH)
Value = bool | int | float | str


@dataclass(frozen=True)
class Switch:
    """A switch of language agents."""

    defaults: Mapping[str, Value]  # Default by kind of agent; other kinds do not have the switch
    kind: str  # ``"switch"`` (on or off), ``"count"`` (an integer; off is 0), ``"number"`` or ``"word"``
    summary: str  # One line for the documentation
    choices: tuple[str, ...] = ()  # Allowed values of a word

    def read(self, name: str, value: Any) -> Value:
        """Parse a value of a spec or YAML file.

        Raises:
            OptionError: The value is not allowed.
        """
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
            value = int(value)
        if isinstance(value, str):
            value = {"on": True, "off": False, "yes": True, "no": False, "true": True, "false": False}.get(value, value)
        if self.kind == "switch" and (isinstance(value, bool) or value in (0, 1)):
            return bool(value)
        if self.kind == "count" and isinstance(value, int) and value is not True and value >= 0:
            return int(value)
        if self.kind == "number" and value is not True and value is not False:
            try:
                return float(value)
            except (TypeError, ValueError):
                pass
        word = "off" if value is False else value
        if self.kind == "word" and word in self.choices:
            return str(word)
        allowed = {"switch": "on or off", "count": "an integer, or off", "number": "a number"}.get(
            self.kind, ", ".join(self.choices)
        )
        raise OptionError(name, f"policy 'llm': {name} must be {allowed}, not {value!r}")


SWITCHES: Mapping[str, Switch] = {
    "channel": Switch({CHOOSE: TEXT, PARTNER: TEXT}, "word",
                      "Answers as text, or as calls of tools (act; for partner also say and request).", CHANNELS),
    "see": Switch({CHOOSE: TEXT, PARTNER: TEXT, COELA: TEXT, ROCO: TEXT, CAPO: TEXT}, "word",
                  "The state as text, as the seat's picture (PNG), or both.", SEES),
    "order": Switch(dict.fromkeys((*GENERIC, PARTNER), SHUFFLED), "word",
                    "Order of listed actions and of tools: drawn for each decision, or the game's, which tells much.",
                    ORDERS),
    "menu": Switch({CHOOSE: AUTO}, "word", "Listed actions: legal ones, the whole vocabulary of the seat, in which a "
                   "choice that is impossible now costs the step, or auto for the game's menu.", (AUTO, *MENUS)),
    "first": Switch({CHOOSE: 1}, "count", "Number of the first listed action."),
    "memory": Switch({CHOOSE: 5, PARTNER: 5, COELA: 10, ROCO: 10, CAPO: 10}, "count",
                     "Number of the agent's last actions in the prompt."),
    "messages": Switch({PARTNER: 6, COELA: 3, ROCO: 6, CAPO: 6}, "count",
                       "Number of last messages in the prompt; partner: of earlier timesteps."),
    "decisions": Switch({PARTNER: 3}, "count", "Number of the agent's last plans in the prompt."),
    "analysis": Switch(
        {CHOOSE: False, PARTNER: True, ROCO: True, CAPO: True},
        "switch",
        "Let the model write its thoughts before it decides.",
    ),
    "two_stage": Switch({COELA: True}, "switch", "Let the model reason in a separate call before it chooses."),
    "correct": Switch(
        {PARTNER: True, DISPATCH: False},
        "switch",
        "Ask again with the game's message when an action is refused (as often as --max-corrections allows).",
    ),
    "reflection": Switch(
        {CHOOSE: 0, PARTNER: 3}, "count", "Number of lessons from refused actions in the prompt."
    ),
    "plans": Switch({PARTNER: "announced"}, "word", "Plans that the teammates see: those announced with a message, or "
                    "all of them.", ("announced", "public")),
    "talk": Switch(
        {PARTNER: True, COELA: True},
        "switch",
        "Open and answer conversations (at most --max-messages messages); coela drafts a message before each choice.",
    ),
    "rounds": Switch({ROCO: 3, CAPO: 3}, "count", "Maximum number of proposals in a discussion; off for none."),
    "fallback": Switch({COELA: "random", ROCO: "random", CAPO: "random"}, "word",
                       "Action without a usable answer.", ("random", "idle")),
    "recipe": Switch(
        {PARTNER: "steps"},
        "word",
        "Form of the recipe: cooking steps, the same with the first one split into actions, single actions of both "
        "agents, or split with the actions rotated until the due one comes first.",
        ("steps", "split", "actions", "rearranged"),
    ),
    "patience": Switch({CHOOSE: PATIENCE}, "count", "Offer to wait until something changes, for so many steps at most, "
                       "in games that say what can change (Overcooked's directives); off does not offer it."),
    "helper": Switch({CHOOSE: False, PARTNER: False, COELA: False, ROCO: False, CAPO: False}, "switch",
                     "Add the directive to help the partner where it can."),
    "manual": Switch({CHOOSE: True, COELA: True, ROCO: True, CAPO: True}, "switch",
                     "Show the game's manual, if it has one."),
    "intention": Switch(
        {CHOOSE: False, PARTNER: False}, "switch", "Predict the partner's next action in a separate call first."
    ),
    "predict": Switch(
        {CHOOSE: False}, "switch", "Predict the partner's next action in the same answer."
    ),
    "earlier": Switch({CHOOSE: True}, "switch", "Show what teammates have already chosen in the same step, in games "
                      "where this is known."),
    "alone": Switch({CHOOSE: False}, "switch", "Hide all information about partners, in Overcooked (LLM-Co's "
                    "single-agent ablation)."),
    "check": Switch(
        {CHOOSE: 0, PARTNER: 0}, "count", "Judge decisions in a separate call; maximum number of objections."
    ),
    "hints": Switch({DISPATCH: True}, "switch", "Show ten hints about the kitchen ('inference knowledge')."),
    "feedback": Switch({DISPATCH: True}, "switch", "Report refused commands in the next step."),
    "lists": Switch({DISPATCH: "each"}, "word", "A list with an invalid command: carry out the others, or void it as a "
                    "whole, in games whose original does so.", ("each", "whole")),
    "times": Switch({DISPATCH: True}, "switch", "Tell how long tools are at work, in games with such times."),
    "history": Switch({DISPATCH: 2}, "count", "Number of earlier pairs of state and commands in the prompt."),
    "demo": Switch({DISPATCH: "full"}, "word", "The one-shot demonstration: all of it, its first two steps, or none.",
                   ("full", "few", "off")),
    "demo_agents": Switch({DISPATCH: 0}, "count", "Agents in the demonstration; 0 for their number in the game."),
    "mode": Switch({COTS: "cots"}, "word", "Mode of the search for joint plans, see the policy cots.", MODES),
    "profile": Switch({COTS: "paper"}, "word", "Behaviour of the paper, or of its public code.", tuple(PROFILES)),
    "unsolved": Switch({COTS: "auto"}, "word", "Result if no plan is good enough; auto: as the profile has it.",
                       ("auto", *FALLBACKS)),
    "n": Switch({COTS: 3}, "count", "Number of plans per request."),
    "depth": Switch({COTS: 2}, "count", "Maximum number of expansions of the tree."),
    "w": Switch({COTS: 1.0}, "number", "Weight of exploration."),
    "stop": Switch({COTS: 0.7}, "number", "Reward that ends the search."),
    "keep": Switch({COTS: 0}, "count", "Ratings above it keep the plan; 0 for the profile's value."),
    "reasoning": Switch({COTS: True}, "switch", "Request reasoning before proposals, critiques, ratings and choices."),
    "parse": Switch({COTS: True}, "switch", "Let each seat's model choose the sub-plan that executes its part; if "
                    "off, a program follows the plan."),
    "examples": Switch({COTS: True}, "switch", "Show worked examples with proposals, critiques and ratings."),
    "input": Switch({COTS: True}, "switch", "Show critics what the planner was told before its plan; if off, they know "
                    "their own notes, the plan and the messages."),
    "rating": Switch({COTS: "labelled"}, "word", "Form of the request for ratings: each number with its meaning, "
                     "without the meanings, or as a bare question, which is answered satisfied or unsatisfied.",
                     ("labelled", "unlabelled", "basic")),
    "charge": Switch({COTS: False}, "switch", "Send the discussion as messages, at the game's price."),
    "reward": Switch({COTS: True}, "switch", "Score plans; if off, all plans are equally good."),
    "update": Switch({COTS: True}, "switch", "Rate the plan before it is replaced; if off, a new plan is searched "
                     "whenever a seat is free or has a new finding."),
}  # fmt: skip

_PLAIN: Mapping[str, str] = {
    "agent": "Kind of agent: auto, choose (one numbered action at a time), coela (five parts, a drafted message before "
    "each choice), roco or capo (all discuss a joint plan), which play every game; cots (seats search joint "
    "plans), which plays games with sub-plans; partner (plans and talks) or dispatch (one model commands all its "
    "seats), which play the games that are made for them.",
    "preset": "Settings of a paper's evaluation; other switches override them.",
    "answer": "Form of answers: schema (JSON, enforced if the endpoint supports it), text, or auto: text for dispatch, "
    "schema for the others.",
    "temperature": "Sampling temperature, 0 to 2.",
    "tokens": "Maximum length of an answer, including reasoning; 0 for the endpoint's limit.",
    "repairs": "Maximum number of repeated requests after an unreadable answer.",
    "prompts": "Folder of custom templates, searched before the built-in ones.",
    "seed": "Sampling seed for temperatures above 0. Default: derived from the episode.",
    "top_p": "Nucleus sampling, above 0 to 1.",
    "effort": "Reasoning effort, such as low or high, if the model supports it.",
    "base_url": "Endpoint of this model. Default: that of --base-url.",
    "api": "API of the model: chat or responses (OpenAI's), or providers (the extra of this name). Default: providers "
    "for names such as anthropic/claude-sonnet-4-5 without a base_url, else chat.",
    "key_variable": "Environment variable with the key of this model's endpoint.",
    "local": "GGUF file of this model, served in this process.",
    "price": "Dollars per million prompt and completion tokens: 2.5/10.",
    "body": "In a YAML file: further fields of the request.",
    "headers": "In a YAML file: further HTTP headers; a value such as $NAME is read from the environment.",
}
_REACH = ("base_url", "key_variable", "local", "headers", "api")
_TEXTS = ("preset", "prompts", "effort", "base_url", "key_variable", "local")
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "agent": (AUTO, *KINDS),
    "answer": (AUTO, "schema", "text"),
    "api": tuple(TRANSPORTS),
}
_NUMBERS: Mapping[str, tuple[type, float, float]] = {
    "temperature": (float, 0, 2),
    "tokens": (int, 0, 1_000_000),
    "repairs": (int, 0, 10),
    "seed": (int, 0, 2**31),
    "top_p": (float, 0, 1),
}


@dataclass(frozen=True)
class AgentSettings:
    """Settings of a language agent, validated as far as possible without the game."""

    model: str  # Name of the model at the endpoint
    preset: str = ""  # Name of the preset that other switches override; empty for none
    agent: str = AUTO  # Kind of agent
    answer: str = "auto"  # Form of answers
    temperature: float = 0.0  # Sampling temperature
    tokens: int = 0  # Maximum length of an answer in tokens, including reasoning; 0 for the endpoint's limit
    repairs: int = 1  # Maximum number of repeated requests after an unreadable answer
    prompts: str = ""  # Folder of custom templates
    seed: int | None = None  # Sampling seed; None for one derived from the episode
    body: Mapping[str, Any] = field(default_factory=dict)  # Further fields of requests
    reach: EndpointConfig | None = None  # Endpoint of the model; None for the default
    price: Price | None = None  # Prices of its tokens; None for those of the connection
    switches: Mapping[str, Value] = field(default_factory=dict)  # Values of the switches in the spec

    @property
    def json(self) -> bool:
        """Request JSON output by default."""
        return self.answer != "text"

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as JSON values, without access keys."""
        settings: dict[str, Any] = redact_values(asdict(self))
        if self.reach is not None:
            named = {name: text if text.startswith("$") else HIDDEN for name, text in self.reach.headers}
            settings["reach"] = {name: value for name, value in settings["reach"].items() if value} | {"headers": named}
        return {name: value for name, value in settings.items() if value not in (None, "", {})}

    def for_agent(self, kind: str) -> dict[str, Value]:
        """Return the values of all switches that a kind of agent has.

        Raises:
            OptionError: A switch is set that this kind of agent does not have.
        """
        defaults = {name: switch.defaults[kind] for name, switch in SWITCHES.items() if kind in switch.defaults}
        for name in self.switches:
            if name not in defaults:
                raise OptionError(
                    name, f"policy 'llm': the agent {kind!r} has no switch {name!r}; it has {', '.join(defaults)}"
                )
        return defaults | dict(self.switches)


def describe_settings() -> list[tuple[str, str, str]]:
    """Return name, defaults and meaning of all settings."""
    defaults = AgentSettings("")
    plain = [(name, _default(vars(defaults).get(name)), meaning) for name, meaning in _PLAIN.items()]
    return plain + [
        (name, ", ".join(f"{kind} {_shown(value)}" for kind, value in switch.defaults.items()), switch.summary)
        for name, switch in SWITCHES.items()
    ]


def _default(value: object) -> str:
    return "0" if type(value) is int and not value else str(value or "none")


def _shown(value: Value) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def parse_settings(text: str) -> AgentSettings:
    """Parse the text after ``llm:`` in a spec.

    Args:
        text: Settings such as ``"gpt-4o?memory=5,reflection=off"``, or the path of a YAML file with ``model`` and other
            settings at the top level; settings after a path's ``?`` override those of the file.

    Raises:
        ValueError: The model is missing, or a switch is unknown or invalid.
    """
    model, _, rest = text.partition("?")
    model = model.strip()
    file = Document("", {}, {})
    if model.endswith((".yaml", ".yml")):
        file = load_file(model, "agent")
        model = file.text("model", default="")
    values: dict[str, Any] = {}
    for part in filter(None, map(str.strip, rest.split(","))):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"policy 'llm': {part!r} should read switch=value")
        refuse_twice("policy 'llm'", name.strip(), values)
        values[name.strip()] = value.strip()
    if not model:
        raise ValueError(f"policy 'llm' needs the name of a model: {BUILT_IN['llm'].usage}")
    switches = {name: value for name, value in file.items() if name != "model"} | values
    with placed(file.replace(values)):
        return _settings(model, switches)


def settings_of(spec: str) -> AgentSettings | None:
    """Return the settings of a language policy's spec in a record; None for other kinds or a missing file."""
    parsed = PolicySpec.parse(spec)
    try:
        return parse_settings(parsed.parameters) if parsed.is_language else None
    except (ValueError, OSError):
        return None


def _settings(model: str, values: Mapping[str, Any]) -> AgentSettings:
    values = _with_preset(values)
    switches = {name: SWITCHES[name].read(name, value) for name, value in values.items() if name in SWITCHES}
    plain = {name: _plain(name, value) for name, value in values.items() if name not in SWITCHES}
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


def _with_preset(values: Mapping[str, Any]) -> dict[str, Any]:
    name = values.get("preset", "")
    if not name:
        return dict(values)
    known = registry.presets()
    if name not in known:
        raise OptionError("preset", f"policy 'llm': {near_matches('preset', name, known)}")
    return {**known[name].switches, **values}


_BATCHED = {"completion_window", "input_file_id"}  # fields of requests to batch APIs
_FIELDS = {"top_p": "top_p", "effort": "reasoning_effort"}  # names in the body of a request


def _mapping(name: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise OptionError(name, f"policy 'llm': {name} must be a mapping in a YAML file, not {value!r}")
    return value


def _price(value: object) -> Price:
    prices = parse_prices(str(value))
    if list(prices) != [""]:
        raise OptionError("price", f"policy 'llm': price must read 2.5/10, not {value!r}")
    return prices[""]


def _refuse_batches(name: str, value: object) -> None:
    if name == "api" and str(value).startswith("batch"):
        raise OptionError(name, f"policy 'llm': api={value}: {NO_BATCHES}")
    if name == "body" and isinstance(value, dict) and (found := _BATCHED.intersection(value)):
        raise OptionError(name, f"policy 'llm': {min(found)} in body: {NO_BATCHES}")


def _plain(name: str, value: object) -> Any:
    if name not in _PLAIN:
        raise OptionError(name, f"policy 'llm': {near_matches('switch', name, [*_PLAIN, *SWITCHES])}")
    _refuse_batches(name, value)
    if name in _TEXTS:
        return check_address(str(value)) if name == "base_url" else str(value)
    if name in ("headers", "body"):
        mapping = _mapping(name, value)
        return mapping if name == "body" else tuple((key, str(text)) for key, text in mapping.items())
    if name == "price":
        return _price(value)
    if name in _CHOICES:
        if value not in _CHOICES[name]:
            raise OptionError(name, f"policy 'llm': {near_matches(name, value, _CHOICES[name])}")
        return value
    kind, low, high = _NUMBERS[name]
    try:
        number = kind(str(value))
    except ValueError:
        number = -1
    if not low <= number <= high:
        raise OptionError(name, f"policy 'llm': {name} must be a number from {low} to {high}, not {value!r}")
    return number
