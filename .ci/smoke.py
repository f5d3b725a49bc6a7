"""One episode of every game and a training of seconds, where the whole tests are not run: on macOS and Windows."""

from __future__ import annotations

import subprocess
import sys
import tempfile

import collab_overcooked
from collab_overcooked.registry import GAMES
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team

LITTLE = ["environments=16", "rollout=20", "batch_size=128", "epochs=1", "trunk=[8]", "heads=[8]"]


def main(steps: int, trains: bool = True) -> None:
    """Play at most ``steps`` steps of every game, and train for as long as few of these take."""
    for record in GAMES:
        env = collab_overcooked.make(record.id, max_cycles=steps)
        episode = play_episode(env, make_team(["greedy"] * env.game.n_agents), seed=0)
        print(record.id, episode.timesteps, "steps", flush=True)
    if not trains:
        return
    with tempfile.TemporaryDirectory() as folder:
        train = ["train", "ppo", "CollabCapture-v0", "--steps", str(32 * steps), "--hyper", *LITTLE]
        subprocess.run([sys.executable, "-m", "collab_overcooked", *train, "--out", f"{folder}/run"], check=True)


if __name__ == "__main__":  # processes of the training import this file again on macOS and Windows
    main(int(sys.argv[1]) if sys.argv[1:] else 20, "--games" not in sys.argv)
