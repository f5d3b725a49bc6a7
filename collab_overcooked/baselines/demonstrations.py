"""What is learned from recorded games, whatever they were read from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Choice(NamedTuple):
    """Choice of one agent."""

    observation: np.ndarray  # As of the game to learn
    mask: np.ndarray  # (A,), nonzero where an action was possible
    action: int  # What the agent did
    seat: int  # Which agent


class Demonstration(NamedTuple):
    """Choices of an episode in their order, of agents that had more than one possible action."""

    choices: Sequence[Choice]
    points: float  # Return of the team; NaN where the data do not tell
