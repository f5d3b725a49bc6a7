"""Threads of torch while policies decide, counted where networks are called."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from collab_overcooked import registry
from collab_overcooked.envs.api import FullGame
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.plugins import load_module
from collab_overcooked.policies.torch_threads import ASKED_BY, one_torch_thread
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team

torch = pytest.importorskip("torch", reason="needs the extra rl")

NETWORKS = """
    from pathlib import Path

    import torch
    from torch import nn

    def note():
        with (Path(__file__).parent / "counts").open("a") as file:
            file.write(f"{torch.get_num_threads()}\\n")

    class Plain(nn.Module):
        observation = {"obs": "features"}

        def __init__(self):
            super().__init__()
            self.last = nn.Linear(96, 6)

        def forward(self, observations):
            note()
            return self.last(observations)

    class Recurrent(nn.Module):
        observation = {"obs": "features"}

        def __init__(self):
            super().__init__()
            self.memory, self.last = nn.GRUCell(96, 8), nn.Linear(8, 6)

        def initial_state(self, rows):
            return torch.zeros(rows, 8)

        def forward(self, observations, state):
            note()
            after = self.memory(observations, state)
            return self.last(after), after

    class Player:
        name = "player"

        def reset(self, seat, info, seed):
            note()

        def act(self, seen):
            note()
            return seen.idle_action

        def reply(self, seen):
            return None
"""


@pytest.fixture
def folder(tmp_path):
    """Folder with a module of networks that note the number of threads."""
    name = f"networks_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(NETWORKS))
    module = load_module(str(tmp_path / f"{name}.py"))
    for network in (module.Plain, module.Recurrent):
        torch.save(network().state_dict(), tmp_path / f"{network.__name__}.pt")
    return tmp_path


@pytest.fixture
def four_threads(monkeypatch):
    """Torch with the four threads that it would take by itself on a machine of four cores."""
    monkeypatch.delenv(ASKED_BY, raising=False)
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    kept = torch.get_num_threads()
    torch.set_num_threads(before)
    assert kept == 4, "training would go on with other threads"


def spec_of(folder: Path, name: str) -> str:
    (file,) = folder.glob("networks_*.py")
    return f"{file}:Player" if name == "Player" else f"torch:{file}:{name}@{folder / name}.pt"


def counts(folder: Path) -> set[str]:
    return set((folder / "counts").read_text().split())


def play_one(spec: str) -> None:
    env = registry.make("Overcooked-v0", layout="cramped_room", max_cycles=3)
    play_episode(env, make_team([spec, spec]), 0)


def play_several(spec: str, workers: int = 1) -> None:
    options = {"max_cycles": 3}
    evaluate("overcooked", team=f"all={spec}", layouts="cramped_room", episodes=4, workers=workers, options=options)


@pytest.mark.parametrize("name", ["Plain", "Recurrent", "Player"])
@pytest.mark.parametrize("play", [play_one, play_several], ids=["one episode", "several at once"])
@pytest.mark.usefixtures("four_threads")
def test_policies_decide_with_one_thread(folder, name, play):
    play(spec_of(folder, name))
    assert counts(folder) == {"1"}


@pytest.mark.parametrize("name", ["Plain", "Recurrent"])
@pytest.mark.usefixtures("four_threads")
def test_a_network_that_a_program_asks_decides_with_one_thread(folder, name):
    from collab_overcooked.policies.api import AgentView, EnvInfo

    env = registry.make("Overcooked-v0", layout="cramped_room")
    env.reset(seed=0)
    game: FullGame = env.game
    policy = make_team([spec_of(folder, name)]).policies[0]
    policy.reset(0, EnvInfo(game.id, game, "", ("a", "b")), 0)
    state, out = env.arrays[0], game.alloc(1)[1]
    game.observe(state, out)
    policy.act(AgentView.of(game, state, out, 0, 0))
    assert counts(folder) == {"1"}


@pytest.mark.slow
@pytest.mark.usefixtures("four_threads")
def test_workers_decide_with_one_thread_each(folder):
    play_several(spec_of(folder, "Recurrent"), workers=2)
    assert counts(folder) == {"1"}


@pytest.mark.usefixtures("four_threads")
def test_threads_that_are_asked_for_stay(folder, monkeypatch):
    monkeypatch.setenv(ASKED_BY, "4")
    play_one(spec_of(folder, "Plain"))
    assert counts(folder) == {"4"}


@pytest.mark.usefixtures("four_threads")
def test_an_error_gives_the_threads_back():
    with pytest.raises(KeyError), one_torch_thread():
        assert torch.get_num_threads() == 1
        raise KeyError
