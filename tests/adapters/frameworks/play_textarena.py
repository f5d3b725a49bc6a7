"""Play CollabCapture in TextArena; prints the rewards as JSON."""

import json

import textarena as ta

import collab_overcooked.adapters.textarena  # noqa: F401  (registers)

env = ta.make("CollabCapture-v0", team="agent_0=llm:a?agent=choose agent_1=llm:b?agent=choose")
env.reset(num_players=2, seed=3)
players, done = set(), False
while not done:
    player, observation = env.get_observation()
    players.add(player)
    done, info = env.step('{"action": 1}')
rewards, _ = env.close()
print(json.dumps({"players": sorted(players), "rewards": rewards}))
