"""Play CollabCapture in skyrl-gym; prints steps and metrics as JSON."""

import json

import skyrl_gym

skyrl_gym.register(id="collab_overcooked", entry_point="collab_overcooked.adapters.skyrl:KitchenTextEnv")
env = skyrl_gym.make("collab_overcooked", extras={"collab_overcooked": {"seed": 3}})
messages, _ = env.init([{"role": "user", "content": "Play."}])
roles, steps, done = [message["role"] for message in messages], 0, False
while not done:
    result = env.step('{"action": 1}')
    steps, done = steps + 1, result["done"]
print(json.dumps({"roles": roles, "steps": steps, "metrics": env.get_metrics()}))
env.close()
