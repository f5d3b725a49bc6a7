"""Policies under names: ``mine=runs/a/policy.npz``, with wildcards for several files."""

from __future__ import annotations

import glob

from collab_overcooked.policies.specs import PolicySpec


def read_named(text: str) -> tuple[str, tuple[str, ...]]:
    """Read a spec, or ``name=spec``; files of weights may contain wildcards.

    Returns:
        The name, by default the text, and the specs: one for each file. A name says which mode the specs ask for, if
        the files do not play in it by default: tables show nothing else of a named policy.

    Raises:
        ValueError: For an unknown policy, a file that cannot be read, or wildcards that no file fits.
    """
    name, equals, spec = (part.strip() for part in text.partition("="))
    is_named = bool(equals) and name.replace("-", "_").isidentifier()
    parsed = PolicySpec.parse(spec if is_named else text).permit().check()
    if parsed.text == parsed.parameters:  # the path of a file alone
        parsed = PolicySpec.parse(f"{parsed.name}:{parsed.text}")
    pattern = next(iter(parsed.weight_files), "")
    files = sorted(glob.glob(pattern)) if glob.has_magic(pattern) else [pattern]
    if not files:
        raise ValueError(f"policy {text!r}: no file fits {pattern!r}")
    specs = tuple(parsed.text.replace(pattern, file, 1) for file in files)
    if is_named and parsed.mode and any(default_mode(spec) != parsed.mode for spec in specs):
        name = f"{name} ({parsed.mode})"
    return name if is_named else text.strip(), specs


def default_mode(spec: str) -> str | None:
    """Return the default mode of a spec's policy file; None for policies without a file."""
    from collab_overcooked.policies.policy_file import read_policy

    parsed = PolicySpec.parse(spec)
    return read_policy(parsed.paths[0]).mode if parsed.name == "ppo" else None
