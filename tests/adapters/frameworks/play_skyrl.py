"""Play CollabEscape in skyrl-gym; prints roles, rewards and metrics as JSON."""

import json
import sys

import skyrl_gym
from greedy import EPISODES, ONE, SUITE, Greedy

skyrl_gym.register(id="collab_overcooked", entry_point="collab_overcooked.adapters.skyrl:KitchenTextEnv")
greedy, played = Greedy(), []
for job in range(EPISODES):
    options = {"suite": SUITE, "team": ONE, "job": job, "episodes": EPISODES, "records": sys.argv[1]}
    env = skyrl_gym.make("collab_overcooked", extras={"collab_overcooked": options})
    messages, _ = env.init([{"role": "user", "content": "Play."}])
    roles, (rules, question), done, reward = [message["role"] for message in messages], messages[-2:], False, 0.0
    while not done:
        result = env.step(greedy([rules, question]))
        done, reward = result["done"], reward + result["reward"]
        question = None if done else result["observations"][0]
    played.append({"roles": roles, "reward": reward, "metrics": env.get_metrics()})
    env.close()
print(json.dumps(played))
