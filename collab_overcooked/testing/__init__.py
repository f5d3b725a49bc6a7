"""Conformance: one call that tells whether an environment keeps what PettingZoo, trainers and searches rely on.

``check_game(env_id)`` checks a registered game with its options; ``check_game(make_env)`` checks anybody's
ParallelEnv. PettingZoo's own tests are part of it. The rest is what they leave out: whole episodes instead of single
steps, what is inside observations, masks and infos, and copies of every kind.
"""

from collab_overcooked.testing.conformance import CHECKS, check_game
from collab_overcooked.testing.playing import difference, random_legal
from collab_overcooked.testing.report import ConformanceError, Report, Result

__all__ = ["CHECKS", "ConformanceError", "Report", "Result", "check_game", "difference", "random_legal"]
