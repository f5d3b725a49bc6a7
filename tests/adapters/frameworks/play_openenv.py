"""Play CollabEscape at an OpenEnv server, one client per episode; prints what happened as JSON."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import urllib.request

import uvicorn
from greedy import EPISODES, ONE, SUITE, Greedy

os.environ |= {"KITCHEN_RECORDS": sys.argv[1], "ENABLE_WEB_INTERFACE": "true"}
from collab_kitchens_env import KitchenAction, KitchenClient
from collab_kitchens_env.server.app import app
from collab_kitchens_env.server.environment import KitchenEnvironment
from openenv.core import GenericEnvClient

greedy = Greedy()


def serve() -> str:
    """Serve on a free port of the loopback; returns the address."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True).start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


def play(url: str, match: int) -> float:
    """Play the open seat of a match; returns the sum of its rewards."""
    with KitchenClient(base_url=url).sync() as client:
        result = client.reset(suite=SUITE, team=ONE, match=match, episodes=EPISODES, reward="outcome")
        rules, total = result.observation.rules, 0.0
        while not result.done:
            text = greedy([{"content": rules}, {"content": result.observation.text}])
            result = client.step(KitchenAction(text=text))
            total += result.reward or 0
    return total


def play_first(url: str, seed: int) -> list[str]:
    """Choose the first action with an untyped client; returns what was seen."""
    with GenericEnvClient(base_url=url).sync() as client:
        result, texts = client.reset(suite=SUITE, team=ONE, seed=seed), []
        while not result.done:
            texts.append(result.observation["text"])
            result = client.step({"text": "1"})
        assert client.state()["seat"] == 0
    return texts


def refusal(url: str, **arguments: str) -> str:
    """Return the message with which a reset is refused."""
    try:
        with GenericEnvClient(base_url=url).sync() as client:
            client.reset(**arguments)
    except Exception as error:
        return str(error)
    return ""


url = serve()
rewards = [play(url, match) for match in range(EPISODES)]
environment = KitchenEnvironment()
first = environment.reset()
tasks = environment.num_tasks("collab-escape")
drawn = environment.render_web(first.model_dump())
button = environment.web_actions(first.model_dump())[0]
after = environment.step(KitchenAction(**button[1]))
environment.close()
print(
    json.dumps(
        {
            "rewards": rewards,
            "seeds": [play_first(url, seed) for seed in (3, 3, 4)],
            "web": [drawn[:32], "<pre>" in drawn, button[0], after.timestep, tasks],
            "page": urllib.request.urlopen(f"{url}/web/").status,
            "refused": refusal(url, team="agent_0=llm:x agent_1=./policy.py:Policy"),
            "open": refusal(url, suite=SUITE, team="all=llm:x"),
        }
    )
)
