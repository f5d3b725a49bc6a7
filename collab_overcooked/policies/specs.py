"""Specs: texts that name a policy with its parameters, such as ``"noisy:0.2"``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from collab_overcooked import plugins
from collab_overcooked.io.checks import near_matches
from collab_overcooked.policies.api import Capabilities, Policy
from collab_overcooked.policies.blind_rules import BLIND
from collab_overcooked.policies.parameters import load_factory
from collab_overcooked.policies.registry import (
    BUILT_IN,
    HUMAN,
    LANGUAGE,
    MODULE,
    SETTINGS,
    WEIGHTS,
    PolicyEntry,
    outside_record,
    policy_names,
    policy_records,
)

MAX_SPEC = 1_000  # characters of a spec, as in records
DEFAULT_PLAYER = "greedy"  # the policy behind a wrapper that names none
# Policies of files whose path alone is a spec; "torch" says which class it needs.
WEIGHT_FILES = {".npz": "ppo", ".zip": "sb3", ".pt": "torch", ".pth": "torch"}


@dataclass(frozen=True)
class PolicySpec:
    """Parsed spec of a policy; specs are parsed only here.

    Nothing is imported to parse one: the module of a policy from outside is loaded for its ``record``, if a command
    line or a caller named it before, see ``permit``.
    """

    text: str  # As it was typed
    name: str  # Name of the policy; its module or file if it comes from outside
    parameters: str  # What follows the name

    @classmethod
    def parse(cls, text: str) -> PolicySpec:
        """Parse ``"greedy"``, ``"ppo:runs/a/policy.npz,greedy"`` or, for a file of weights, its path alone.

        Raises:
            ValueError: If it is no text, or too long a one.
        """
        if not isinstance(text, str):
            raise ValueError(f"policy must be a text such as 'greedy', not {text!r}")
        if len(text) > MAX_SPEC:
            raise ValueError(f"policy {text[:40]!r}... has {len(text)} characters, allowed are {MAX_SPEC}")
        text = text.strip()
        name, colon, parameters = (part.strip() for part in text.partition(":"))
        ending = Path(name.partition(",")[0].rstrip()).suffix
        if ending in WEIGHT_FILES and (not colon or WEIGHT_FILES[ending] == "torch"):
            return cls(text, WEIGHT_FILES[ending], text)
        return cls(text, name, parameters)

    @property
    def record(self) -> PolicyEntry:
        """Description of the policy.

        Raises:
            ValueError: For an unknown policy, or one of a module that only a file names.
        """
        return self._resolved[0]

    @cached_property
    def _resolved(self) -> tuple[PolicyEntry, str]:
        if self._builtin is not None:  # plug-ins are loaded for unknown names only
            return self._builtin, self.parameters
        if self._is_outside:
            class_name, _, parameters = (part.strip() for part in self.parameters.partition(":"))
            return outside_record(self.name, class_name), parameters
        for record in policy_records():
            if record.name == self.name:
                return record, self.parameters
        raise ValueError(near_matches("policy", self.name, policy_names()))

    @cached_property
    def _builtin(self) -> PolicyEntry | None:
        return BUILT_IN.get(self.name)

    @property
    def _is_outside(self) -> bool:
        return "." in self.name

    def check(self) -> PolicySpec:
        """Return the spec itself.

        Raises:
            ValueError: For an unknown policy, or one whose code only a file names.
        """
        for player in self.players:
            player.check()
        for name in self.code:
            plugins.check_permitted(name)
        assert self.record
        return self

    def permit(self) -> PolicySpec:
        """Return the spec itself, whose code may be run from now on: for texts of a command line or a caller."""
        for name in self.code:
            plugins.permit(name)
        return self

    @property
    def kind(self) -> str:
        """Kind of the policy, see ``PolicyEntry``; a ValueError for an unknown policy."""
        return self.record.kind

    @property
    def is_known(self) -> bool:
        """True if the policy is registered; runs with a custom ``make`` may use unregistered ones."""
        try:
            return bool(self.record)
        except ValueError:
            return False

    @property
    def is_language(self) -> bool:
        """True if a language model plays."""
        return self._builtin is not None and self._builtin.kind == LANGUAGE

    @property
    def is_blind(self) -> bool:
        """True if a rule without understanding answers the lists that language models get."""
        return self.name == BLIND

    @property
    def reads_messages(self) -> bool:
        """True if the policy may read messages: people, language policies and custom ones do."""
        if self.players:
            return any(player.reads_messages for player in self.players)
        return not self.is_known or self._is_outside or self.kind in (LANGUAGE, HUMAN)

    @property
    def players(self) -> tuple[PolicySpec, ...]:
        """Policies whose play a wrapper changes; empty for a policy that is no wrapper."""
        return self.wrapped[1]

    @cached_property
    def wrapped(self) -> tuple[str, tuple[PolicySpec, ...]]:
        """Parameter and policies of a wrapper such as ``"slow:3:planner:width=50"`` or ``"switch:200:greedy+random"``.

        Raises:
            ValueError: If one of two policies is missing.
        """
        count = self._builtin.players if self._builtin is not None else 0
        if not count:
            return "", ()
        parameter, _, players = (part.strip() for part in self.parameters.partition(":"))
        if count == 1:
            return parameter, (PolicySpec.parse(players or DEFAULT_PLAYER),)
        first, _, second = (part.strip() for part in players.partition("+"))
        if not (first and second):
            example = f"{self.name}:200:greedy+random"
            raise ValueError(f"policy {self.name!r} needs two policies as in {example}, not {players!r}")
        return parameter, (PolicySpec.parse(first), PolicySpec.parse(second))

    def _find_files(self, kind: str) -> list[tuple[int, int]]:
        """Return where the user's files of a kind are in the parameters, as starts and ends."""
        pattern = self._builtin.files.get(kind) if self._builtin is not None else None
        spans: list[tuple[int, int]] = []
        for match in re.finditer(pattern, self.parameters) if pattern else ():
            path = match[match.lastindex or 0]
            start = match.start(match.lastindex or 0) + len(path) - len(path.lstrip())
            if path.strip():
                spans.append((start, start + len(path.strip())))
        return spans

    def _files(self, kind: str) -> list[str]:
        """Return the user's files of a kind, of the policies behind a wrapper for these."""
        if self.players:
            return [path for player in self.players for path in player._files(kind)]
        return [self.parameters[start:end] for start, end in self._find_files(kind)]

    @property
    def weight_files(self) -> list[str]:
        """The user's files of weights; their digests are part of a run's identity."""
        return self._files(WEIGHTS)

    @property
    def files(self) -> list[str]:
        """User files in the spec: modules, and files of code, weights, settings and templates."""
        return [*self.modules, *self.weight_files, *self._files(SETTINGS)]

    @property
    def mode(self) -> str:
        """Mode of a network that the text names, such as ``"greedy"``; empty if it leaves the mode to the file."""
        from collab_overcooked.policies.policy_file import MODES

        is_network = self._builtin is not None and WEIGHTS in self._builtin.files
        named = [part.strip() for part in self.parameters.split(",")[1:]] if is_network else []
        return next((part for part in named if part in MODES), "")

    @property
    def modules(self) -> list[str]:
        """Modules and files with code: of a policy, or of a network of torch."""
        if self.players:
            return [module for player in self.players for module in player.modules]
        return [self.name] if self._is_outside and self._builtin is None else self._files(MODULE)

    @property
    def code(self) -> list[str]:
        """Modules and files whose code runs when the policy is made: ``modules``, and archives that hold code."""
        if self.players:
            return [name for player in self.players for name in player.code]
        holds_code = self._builtin is not None and self._builtin.holds_code
        return [*self.modules, *(self.weight_files if holds_code else ())]

    @property
    def paths(self) -> list[Path]:
        """All files of weights, the user's and built-in ones; a ValueError for an unknown policy."""
        if self.players:
            return [path for player in self.players for path in player.paths]
        if self.record.name == "ppo":
            from collab_overcooked.policies.policy_file import policy_path

            return [policy_path(self.parameters.partition(",")[0].strip())]
        return list(map(Path, self.weight_files))

    def resolve(self, folder: Path) -> PolicySpec:
        """Return the spec with relative paths resolved against a folder instead of the current one."""
        parameter, players = self.wrapped
        if players:
            behind = "+".join(player.resolve(folder).text for player in players)
            return PolicySpec.parse(f"{self.name}:{parameter}:{behind}")
        text = self.parameters
        spans = [span for kind in (MODULE, WEIGHTS, SETTINGS) for span in self._find_files(kind)]
        for start, end in sorted(spans, reverse=True):
            path = text[start:end]
            if plugins.is_module(path) and (start, end) in self._find_files(MODULE):
                continue
            text = f"{text[:start]}{folder / path}{text[end:]}"
        if self.text == self.parameters:  # the path of a file alone
            return PolicySpec.parse(text)
        name = str(folder / self.name) if self._is_outside and plugins.is_file(self.name) else self.name
        return PolicySpec.parse(f"{name}:{text}" if text else name)

    def make(self) -> Policy:
        """Create the policy, not yet reset, whose ``name`` is the text.

        Raises:
            ValueError: For an unknown policy, one whose code only a file names, or invalid parameters.
        """
        for name in self.code:
            plugins.check_permitted(name)
        record, text = self._resolved
        if record.role:
            from collab_overcooked.policies.per_game import from_role

            policy: Policy = from_role(record.role, text)
        else:
            policy = load_factory(record.factory)(text)
        policy.name = self.text
        if self._is_outside and Capabilities.of(policy).observation is None:
            declared = vars(plugins.load_module(self.name)).get("observation")
            if declared is not None:
                setattr(policy, "observation", declared)  # noqa: B010  (not part of the protocol)
        return policy


def make_policy(spec: str) -> Policy:
    """Create a policy from its spec, for example ``"greedy"``, ``"noisy:0.2"`` or ``"planner:width=500"``.

    Args:
        spec: Name of the policy, optionally followed by a colon and its parameters. A policy that is not registered is
            named by its module or file: ``"package.module:Class"``, ``"file.py:Class"``, ``"file.py:Class:width=5"``.
            Its code is imported, so pass texts that you trust; for the texts of a file there is
            ``make_known_policy``.

    Returns:
        A policy, not yet reset, whose ``name`` is the spec.

    Raises:
        ValueError: For an unknown policy or invalid parameters.
    """
    return PolicySpec.parse(spec).permit().make()


def make_known_policy(spec: str) -> Policy:
    """Create a policy from its spec, which may come from a file or record: no code is imported that only it names.

    Args:
        spec: Spec of the policy, as for `make_policy`.

    Returns:
        A policy, not yet reset, whose ``name`` is the spec.

    Raises:
        ValueError: For an unknown policy, one whose code only the spec names, or invalid parameters.
    """
    return PolicySpec.parse(spec).make()
