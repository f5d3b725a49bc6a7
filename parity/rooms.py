"""Recordings of the public code of LLM-Coordination: whole games of CollabCapture and CollabEscape.

Nothing but the way of a killer that is unaware of everybody is random. The recordings hold it, and each such turn is
played with a seed that draws it. The recorded code has no horizon for escapes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import count
from typing import Any

from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.kernels.rng import draw_below, seed_states
from collab_overcooked.registry import make
from parity.report import FileReport, Format, Recording, at, expect, has

Values = Mapping[str, Any]
NAMES = {"": None, "Alice": 0, "Bob": 1}
LONGEST = 1000  # turns of an escape, which the original never cuts off


@cache
def seed_that_draws(way: int, ways: int) -> int:
    """Return the smallest seed whose first draw is a given way."""
    return next(seed for seed in count() if draw_below(seed_states([seed])[0], ways) == way)


def _menu(env: ParallelEnv, seat: int) -> list[str]:
    """Return the texts of a seat's possible actions, in the order of its menu."""
    texts = env.game.action_texts()
    return [texts[action] for action in env.game.menu(env.arrays[0], 0, seat)]


def _rooms(scene: Values) -> list[int]:
    return [*(int(player["room"]) for player in scene["players"]), int(scene["adversary"]["room"])]


def _step(env: ParallelEnv, words: Sequence[str]) -> Values:
    env.step({agent: env.game.parse(text) for agent, text in zip(env.agents, words, strict=True)})
    return env.scene()


# ------------------------------------------------------------------------------------------- capture


def _capture_words(recorded: Any) -> str:
    """Return our text of a recorded action: a room's number, or a label."""
    if isinstance(recorded, int):
        return f"go to room {recorded}"
    return "stay" if recorded.startswith("Stay") else "press the button"


def _replay_capture(game: Values, report: FileReport) -> None:
    env = make("CollabCapture-v0", preset="code2024")
    env.reset(seed=0)
    scene: Values = env.scene()
    for t, turn in enumerate(game["log"]):
        with at(f"turn {t + 1}, actions {turn['act']}"):
            expect("rooms before", _rooms(scene), turn["pre"])
            doors = {name: "open" if is_open else "closed" for name, is_open in scene["doors"].items()}
            expect("doors", doors, turn["doors"])
            menus = [[_capture_words(option) for option in options] for options in turn["opts"]]
            expect("menus", [_menu(env, seat) for seat in (0, 1)], menus)
            scene = _step(env, [_capture_words(action) for action in turn["act"]])
            expect("rooms after", _rooms(scene), turn["post"])
            expect("caught", scene["outcome"] == "success", turn.get("caught", False))
        report.compared += 1
    expect("caught in the end", scene["outcome"], "success" if game["caught"] else "time_out")
    expect("turns", scene["turn"], game["turns"])


# ------------------------------------------------------------------------------------------- escape


def _escape_words(recorded: str) -> str:
    if recorded.startswith("move"):
        return recorded.replace("move", "go", 1)
    return "wait" if recorded == "wait" else "fix the generator"


def _progress(scene: Values) -> dict[str, int]:
    return {f"room {generator['room']}": generator["progress"] for generator in scene["generators"]}


def _draw_recorded(env: ParallelEnv, scene: Values, choice: int) -> None:
    """Go on from the same scene with a seed by which an unaware killer goes where it went."""
    level = env.game.level
    near = [level.rooms[room] for room in level.neighbours[level.rooms.index(scene["adversary"]["room"])]]
    chance = {"seed": seed_that_draws(near.index(str(choice)), len(near)), "draws": 0}
    env.reset(options={"state": {**scene, "chance": chance}})


def _compare_killer(scene: Values, turn: Values) -> None:
    expect("target", scene["adversary"]["target"], NAMES[turn["target"]])
    expect("seen", [int(player["seen"]) for player in scene["players"]], turn["see"])


def _replay_escape(game: Values, report: FileReport) -> None:
    env = make("CollabEscape-v0", preset="code2024", max_cycles=LONGEST)
    env.reset(seed=0)
    scene: Values = env.scene()
    for t, turn in enumerate(game["log"]):
        with at(f"turn {t + 1}, actions {turn['act']}"):
            expect("rooms before", _rooms(scene), turn["pre"])
            expect("progress before", _progress(scene), turn["gen_before"])
            expect("gate before", scene["gate"], turn["gate_before"])
            _compare_killer(scene, turn)  # the original's killer decides when the turn begins
            if scene["adversary"]["target"] is None:
                _draw_recorded(env, scene, turn["killer_choice"])
            menus = [[_escape_words(option) for option in options] for options in turn["opts"]]
            expect("menus", [_menu(env, seat) for seat in (0, 1)], menus)
            scene = _step(env, [_escape_words(action) for action in turn["act"]])
            expect("rooms after", _rooms(scene), turn["post"])
            expect("progress", _progress(scene), turn["gen"])
            expect("gate", scene["gate"], turn["gate"])
            expect("at work", [int(player["fixing"]) for player in scene["players"]], turn["last_fix"])
            over = scene["outcome"] != "running"
            expect("over", over, turn is game["log"][-1])
        report.compared += 1
    expect("outcome", scene["outcome"], {"win": "success", "loss": "lost"}[game["outcome"]])
    expect("turns", scene["turn"], game["turns"])


# ------------------------------------------------------------------------------------------- formats


def _replay_all(replay: Any) -> Any:
    def compare(recording: Recording, report: FileReport) -> None:
        games = ((f"game {number} (seed {game['seed']})", game) for number, game in enumerate(recording.episodes))
        report.run_all(games, replay, lambda game: len(game["log"]))

    return compare


def _is_game(name: str) -> Any:
    return lambda first: has("game", "log", "turns")(first) and first["game"] == name


FORMATS = (
    Format("CollabCapture, games", _is_game("capture"), _replay_all(_replay_capture)),
    Format("CollabEscape, games", _is_game("escape"), _replay_all(_replay_escape)),
)
