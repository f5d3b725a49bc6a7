"""Metrics of Collab-Overcooked, computed from logs: PC, SR, IC and RC, kinds of initiations, logs of the original."""

from collab_overcooked.games.collab_overcooked.suite.metrics.collaboration import (
    CollaborationEvent,
    CollaborationOptions,
    CollaborationScore,
    Conversation,
    Logged,
    Message,
    References,
    Run,
    announced_actions,
    collaboration,
    collaboration_events,
    requested_actions,
    required_collaborations,
)
from collab_overcooked.games.collab_overcooked.suite.metrics.initiations import (
    Initiation,
    classify_initiation,
    count_initiations,
)
from collab_overcooked.games.collab_overcooked.suite.metrics.original_logs import (
    GAMMA,
    LogError,
    apply_time_limit,
    original_run,
    read_original_log,
    time_limit,
)
from collab_overcooked.games.collab_overcooked.suite.metrics.scores import (
    LevelScore,
    RunScore,
    references_by_agent,
    run_from_record,
    score_level,
    score_run,
    score_runs,
)
from collab_overcooked.games.collab_overcooked.suite.metrics.vocabulary import (
    DUMMY_ACTION,
    PAPER_UTENSILS,
    Vocabularies,
    kitchen_vocabularies,
)
