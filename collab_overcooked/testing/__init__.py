"""Conformance tests: one call checks that an environment meets the requirements of PettingZoo, trainers and search.

``check_game(env_id)`` checks a registered game with its options; ``check_game(make_env)`` checks any ParallelEnv.
PettingZoo's own tests are included. Further checks cover complete episodes instead of single steps, the contents of
observations, masks and infos, and copies of every kind. ``check_policy(policy, env_id)`` checks that a policy keeps
nothing of an episode in the next.
"""

from collab_overcooked.testing.conformance import CHECKS, check_game
from collab_overcooked.testing.playing import difference, random_legal
from collab_overcooked.testing.policy_checks import check_policy
from collab_overcooked.testing.report import ConformanceError, Report, Result

__all__ = ["CHECKS", "ConformanceError", "Report", "Result", "check_game", "check_policy", "difference", "random_legal"]
