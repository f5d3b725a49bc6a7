"""Options of suites, as command lines need them: importing them loads no kernels."""

from __future__ import annotations

from dataclasses import dataclass

from collab_overcooked.io.options import NoOptions, option


@dataclass(frozen=True, kw_only=True)
class EpisodeOptions:
    """Options of a suite beyond team, seed and options of the environment."""

    episodes: int = option(10, "Episodes.")


@dataclass(frozen=True)
class SuiteOptions:
    """Frozen dataclasses of a suite's options, with fields made by ``io.options.option``."""

    play: type = EpisodeOptions  # Options beyond team, seed, options of the environment and limits
    scoring: type = NoOptions  # How metrics are counted
    show: tuple[str, ...] = ()  # Which of ``more`` and ``by_task`` make a difference to its tables


DEFAULT = SuiteOptions()
