"""Recordings of the public Overcooked-AI code and of Overcooked-Assist: episodes and directed cases.

Deviations that would be passed over are listed, with the same tag, in docs/archive/deviations.md; of states, rewards
and events there are none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.games.overcooked.engine.constants import NOT_COOKING, PLAYER_CHANNELS, EventColumn, GateChannel
from collab_overcooked.games.overcooked.text.text import event_names
from collab_overcooked.registry import make
from parity.report import FileReport, Format, Recording, at, expect, has

NAMES = {  # of recorded layouts, by source, where ours differ
    ("upstream", "counter_circuit_o_1order"): "counter_circuit",
    ("fork", "counter_circuit_o_1order"): "counter_circuit",
    ("fork", "no_counter_door"): "gated_delivery",
    ("fork", "soup_passing_door"): "locked",
    ("fork", "asymmetric_advantages"): "asymmetric_advantages_llmco",
}
DYNAMICS = {"old": "auto", "new": "explicit"}
FACINGS = ("north", "south", "east", "west")

KINDS = {  # channels of each kind of object in the encoding with gates
    "soup": (GateChannel.POT_ONIONS, GateChannel.POT_TICK, GateChannel.SOUP),
    "dish": (GateChannel.DISH,),
    "onion": (GateChannel.ONION,),
}
G1 = "G1 a held kind hides the rest"

Array = np.ndarray
Values = Mapping[str, Any]


def make_recorded(header: Values, **options: Any) -> ParallelEnv:
    """Make the environment of a recorded episode or state."""
    name = NAMES.get((header["src"], header["layout"]), header["layout"])
    return make("Overcooked-v0", layout=name, dynamics=DYNAMICS[header.get("dyn", "old")], **options)


# ------------------------------------------------------------------------------------------- states


def scene_of(recorded: Values, source: str) -> dict[str, Any]:
    """Return a recorded state as a scene to start from."""
    scene: dict[str, Any] = {
        "players": [
            {"position": [x, y], "facing": FACINGS[facing], "holding": _thing(held, source)}
            for x, y, facing, held in recorded["p"]
        ],
        "objects": [{"position": [x, y], **(_thing(thing, source) or {})} for x, y, thing in recorded["o"]],
    }
    if "g" in recorded:
        scene["gates"] = [{"position": [x, y], "open": bool(up), "counter": n} for x, y, up, n in recorded["g"]]
    return scene


def _thing(recorded: Any, source: str) -> dict[str, Any] | None:
    if recorded is None:
        return None
    if isinstance(recorded, str):
        return {"item": recorded}
    _, onions, tick = recorded
    idle = source == "fork" and tick == 0  # the fork counts from 0 where upstream says -1
    return {"item": "soup", "ingredients": ["onion"] * onions, "tick": NOT_COOKING if idle else tick}


def state_of(scene: Values, source: str) -> dict[str, Any]:
    """Return a scene in the form of the recordings."""
    state: dict[str, Any] = {
        "p": [
            [*player["position"], FACINGS.index(player["facing"]), _recorded(player["holding"], source)]
            for player in scene["players"]
        ],
        "o": [[*thing["position"], _recorded(thing, source)] for thing in scene["objects"]],
    }
    if scene["gates"]:
        state["g"] = [[*gate["position"], int(gate["open"]), gate["counter"]] for gate in scene["gates"]]
    return state


def _recorded(thing: Values | None, source: str) -> Any:
    if thing is None or thing["item"] != "soup":
        return thing and thing["item"]
    tick = max(thing["tick"], 0) if source == "fork" else thing["tick"]
    return ["soup", len(thing["ingredients"]), tick]


def compare_state(env: ParallelEnv, recorded: Values, source: str) -> None:
    """Compare players, objects and gates."""
    ours = state_of(env.scene(), source)
    for key, what in (("p", "players"), ("o", "objects"), ("g", "gates")):
        expect(what, ours.get(key, []), recorded.get(key, []))


# ------------------------------------------------------------------------------------------- steps


def _compare_step(env: ParallelEnv, rewards: Sequence[float], recorded: Values, source: str) -> None:
    """Compare everything that a recorded step holds; the fork recorded neither events nor whose a reward is."""
    out = env.arrays[1]
    sparse, shaped = out.sparse[0].tolist(), out.shaped[0].tolist()
    compare_state(env, recorded["s"], source)
    expect("rewards", list(rewards), [sum(sparse)] * len(sparse))
    if source == "fork":
        sparse, shaped = sum(sparse), sum(shaped)
    expect("sparse reward", sparse, recorded["r"])
    expect("shaped reward", shaped, recorded["sh"])
    if source == "upstream":
        ours = [
            [name, seat]
            for seat, bits in enumerate(out.events[0, :, EventColumn.CODE].tolist())
            for name in event_names(bits)
        ]
        expect("events", sorted(ours), sorted(recorded.get("ev", [])))


def _replay(episode: Values, report: FileReport) -> None:
    source = episode["src"]
    env = make_recorded(episode, max_cycles=len(episode["steps"]) + 1)
    env.reset(options={"state": scene_of(episode["s0"], source)} if _is_own_start(episode) else None)
    compare_state(env, episode["s0"], source)
    total = 0.0
    for t, step in enumerate(episode["steps"]):
        _, rewards, _, _, infos = env.step(dict(zip(env.agents, step["a"], strict=True)))
        with at(f"step {t}, actions {step['a']}"):
            _compare_step(env, list(rewards.values()), step, source)
        total += sum(info["shaped_reward"] for info in infos.values())
        report.compared += 1
    if "return" in episode:
        scene = env.scene()
        expect("deliveries", scene["served"], episode["deliveries"])
        expect("return", scene["score"], episode["return"])
        expect("shaped return", total, episode["shaped"])


def _is_own_start(episode: Values) -> bool:
    """Episodes from the layout's own start are replayed from an ordinary reset."""
    return episode.get("start") != "standard"


def replay_episodes(recording: Recording, report: FileReport) -> None:
    """Replay whole episodes."""
    report.run_all(((f"episode {e['ep']} of {e['layout']} ({e['dyn']})", e) for e in recording.episodes), _replay)


def replay_cases(recording: Recording, report: FileReport) -> None:
    """Replay directed cases."""
    report.run_all(((f"case {case['name']}", case) for case in recording.episodes), _replay)


# ------------------------------------------------------------------------------------------- encodings


def _show(state: Values, source: str, **options: Any) -> tuple[ParallelEnv, Array]:
    """Return an environment in a recorded state, and its observations by seat."""
    env = make_recorded({**state, "src": source}, **options)
    scene = {**scene_of(state["s"], source), "timestep": state.get("timestep", state["t"])}
    observations, _ = env.reset(options={"state": scene})
    return env, np.stack(list(observations.values()))


def _paint(picture: Sequence[Sequence[int]], shape: Sequence[int]) -> Array:
    """Return a picture that was recorded as its numbers other than 0: channel, x, y, value."""
    painted = np.zeros(shape, np.int64)
    for channel, x, y, value in picture:
        painted[x, y, channel] = value
    return painted


def _compare_encodings(state: Values, report: FileReport) -> None:
    _, pictures = _show(state, "upstream", obs="lossless")
    _, numbers = _show(state, "upstream", obs="features")
    for seat, (picture, features) in enumerate(zip(pictures, numbers, strict=True)):
        _expect_numbers(f"lossless of player {seat}", picture, _paint(state["lossless"][seat], state["shape"]))
        _expect_numbers(f"features of player {seat}", features, np.array(state["features"][seat]))
        report.compared += 1


def _expect_numbers(what: str, ours: Array, recorded: Array) -> None:
    expect(f"shape of {what}", ours.shape, recorded.shape)
    places = np.argwhere(ours != recorded).tolist()
    expect(what, [(*place, int(ours[*place])) for place in places], [(*p, int(recorded[*p])) for p in places])


def _compare_gated_encodings(state: Values, report: FileReport) -> None:
    env, pictures = _show(state, "fork", obs="gates")
    players = env.scene()["players"]
    for seat, (picture, recorded) in enumerate(zip(pictures, state["lossless_with_gates"], strict=True)):
        theirs = _paint(recorded, state["shape"])
        hidden = _hide_held_kinds(picture, players)
        _expect_numbers(f"encoding of player {seat}", hidden, theirs)
        report.passed[G1] += not np.array_equal(picture, hidden)
        report.compared += 1


def _hide_held_kinds(picture: Array, players: Sequence[Values]) -> Array:
    """Return a picture as the original draws it: if anybody holds an object, no unheld one of its kind is shown."""
    hidden = picture.copy()
    for held in (player["holding"] for player in players):
        for kind in KINDS[held["item"]] if held else ():
            channel = PLAYER_CHANNELS * len(players) + kind
            hidden[..., channel] = 0
            for x, y in (player["position"] for player in players):
                hidden[x, y, channel] = picture[x, y, channel]
    return hidden


def replay_encodings(compare: Any, recording: Recording, report: FileReport) -> None:
    """Compare the pictures of recorded moments, one for each player."""
    moments = ((f"step {m['t']} of episode {m['ep']}, {m['layout']}", m) for m in recording.episodes)
    report.run_all(moments, compare, lambda moment: len(moment["s"]["p"]))


STEPS = ("src", "layout", "dyn", "s0", "steps")
PICTURES = ("layout", "t", "s", "shape")
FORMATS = (
    Format("Overcooked, episodes", has("ep", *STEPS), replay_episodes),
    Format("Overcooked, directed cases", has("name", *STEPS), replay_cases),
    Format("Overcooked, encodings", has("lossless", *PICTURES), partial(replay_encodings, _compare_encodings)),
    Format(
        "Overcooked, encodings with gates",
        has("lossless_with_gates", *PICTURES),
        partial(replay_encodings, _compare_gated_encodings),
    ),
)
