"""Metrics of all games: estimates with intervals, and scores of actions against references (TES, ITES, ROUGE-L).

A game names metrics of its own in its ``record.py``.
"""

from collab_overcooked.metrics.intervals import Estimate, mean_ci, mean_of_groups, mean_of_ratios, mean_of_shares
from collab_overcooked.metrics.trajectory import (
    BETA,
    TesBatch,
    TesScore,
    encode,
    ites,
    normal_form,
    rouge_l,
    tes,
    tes_batch,
    tes_table,
)
