from collab_overcooked.evaluation.compare.run import compare
from collab_overcooked.evaluation.crossplay import cross_play
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.game_record import (
    GameRecord as GameRecord,
)
from collab_overcooked.metrics.registry import register_metric
from collab_overcooked.policies.api import Decision, Message, Policy, Seen
from collab_overcooked.policies.export import export_policy
from collab_overcooked.policies.registry import make_policy, register_policy
from collab_overcooked.registry import make, make_vec, register_game, registered
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team
from collab_overcooked.testing import check_game

__version__: str
__all__ = [
    "Decision",
    "GameRecord",
    "Message",
    "Policy",
    "Seen",
    "__version__",
    "check_game",
    "compare",
    "cross_play",
    "evaluate",
    "export_policy",
    "make",
    "make_policy",
    "make_team",
    "make_vec",
    "play_episode",
    "register_game",
    "register_metric",
    "register_policy",
    "registered",
]
