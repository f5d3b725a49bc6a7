"""Metrics of any game: estimates with intervals, and how well actions follow a reference (TES, ITES, ROUGE-L).

Metrics of one game are in ``games/<game>/metrics``.
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
