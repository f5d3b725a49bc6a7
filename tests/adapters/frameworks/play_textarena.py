"""Play CollabEscape with two players in TextArena; prints players and rewards as JSON."""

import json
import sys

import textarena as ta
from greedy import ALL, EPISODES, Greedy

import collab_overcooked.adapters.textarena  # noqa: F401  (registers)

greedy = Greedy()
rewards, seats = [], set()
for job in range(EPISODES):
    env = ta.make("CollabEscape-v0", team=ALL, job=job, episodes=EPISODES, records=sys.argv[1])
    while isinstance(env, ta.Wrapper):  # these show the whole history as one text
        env = env.env
    env.reset(num_players=2)
    rules, done = {}, False
    while not done:
        player, observation = env.get_observation()
        rules.setdefault(player, observation[0][1])
        done, _ = env.step(greedy([{"content": rules[player]}, {"content": observation[-1][1]}]))
        seats.add(player)
    rewards.append(env.close()[0])
wrapped = ta.make("CollabEscape-v0", team=ALL)
wrapped.reset(num_players=2, seed=3)
text = wrapped.get_observation()[1]
print(json.dumps({"players": sorted(seats), "rewards": rewards, "text": str(text)}))
