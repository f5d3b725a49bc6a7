"""Par scores of kitchens: what a team of the package's own policies serves in one episode."""

from __future__ import annotations

from collab_overcooked.games.overcooked.engine.spec import Layout
from collab_overcooked.registry import make
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team

STEPS = 400


def par_score(layout: Layout, policy: str) -> int:
    """Return the score of a team of one policy in every seat, after 400 steps from the layout's own start.

    Pots start by themselves where all orders can be filled so.
    """
    dynamics = "auto" if layout.cooks_by_itself else "explicit"
    env = make("Overcooked-v0", layout=layout.document.content, dynamics=dynamics, max_cycles=STEPS)
    play_episode(env, make_team([policy] * env.game.n_agents), seed=0)
    return int(env.scene()["score"])
