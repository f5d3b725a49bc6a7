"""Tables: several callers at one match, each with a seat of its own."""

from __future__ import annotations

import threading

import pytest

from collab_overcooked.adapters.sitting import Sitting, Turn
from collab_overcooked.adapters.table import Lobby, NotAsked, Table
from collab_overcooked.runner.records import read_records

TEAM = "all=llm:x?agent=choose"
FIRST = '{"action": 1}'


def table_of(team: str = TEAM, **options) -> Table:
    return Table(Sitting.of_suite("collab-escape", team, episodes=1, **options))


def play_seat(table: Table, seat: int, rewards: dict[int, float]) -> None:
    earned = 0.0
    while True:
        turn = table.wait(seat)
        earned += turn.reward
        if turn.done:
            rewards[seat] = earned
            return
        table.answer(seat, FIRST)


def test_two_callers_play_what_one_caller_plays():
    with Sitting.of_suite("collab-escape", TEAM, episodes=1, reward="return") as sitting:
        turn = sitting.start()
        while not turn.done:
            turn = sitting.step(FIRST)
        expected = sitting.record.steps
    table, rewards = table_of(reward="return"), {}
    table.start()
    players = [threading.Thread(target=play_seat, args=(table, seat, rewards)) for seat in table.seats]
    for player in players:
        player.start()
    for player in players:
        player.join(60)
    steps = table.sitting.record.steps
    assert [step.actions for step in steps] == [step.actions for step in expected]
    assert rewards == {seat: pytest.approx(sum(step.rewards[seat] for step in steps)) for seat in table.seats}
    table.close()


def test_a_seat_waits_for_its_turn():
    table = table_of()
    table.start(3)
    assert table.wait(0).seat == 0
    assert table.wait(1, timeout=0) is None
    with pytest.raises(NotAsked, match="agent_1 cannot answer: agent_0 is asked now"):
        table.answer(1, FIRST)
    table.answer(0, FIRST)
    assert table.wait(1, timeout=0).seat == 1
    with pytest.raises(ValueError, match="seat must be one of 0, 1, the open seats, not 2"):
        table.wait(2)
    table.close()


def test_others_play_on_after_one_has_left():
    table, rewards = table_of(), {}
    table.start()
    table.leave(0)
    play_seat(table, 1, rewards)
    assert table.sitting.record.timesteps > 0 and set(rewards) == {1}
    table.close()


def test_the_last_one_to_leave_ends_the_job():
    table = table_of("agent_0=llm:x?agent=choose agent_1=greedy")
    with pytest.raises(ValueError, match="the table was not started"):
        table.wait(0)
    table.start()
    table.leave(0)
    with pytest.raises(ValueError, match="no episode is finished"):
        _ = table.sitting.record


def test_records_go_to_the_run_folder_of_the_evaluation(tmp_path):
    options = {"records": str(tmp_path / "run"), "reward": "outcome"}
    for match in (1, 0):
        with Sitting.of_suite("collab-escape", TEAM, match, episodes=2, **options) as sitting:
            for seed in (9, None):  # an episode with a seed of the caller is none of the evaluation
                turn = sitting.start(seed)
                while not turn.done:
                    turn = sitting.step(FIRST)
    assert [record.episode for record in read_records(tmp_path / "run")] == [0, 1]
    with pytest.raises(ValueError, match="in use for another evaluation"):
        Sitting.of_suite("collab-escape", TEAM, episodes=3, **options)


def make_sitting() -> Sitting:
    return Sitting.of_suite("collab-escape", TEAM, episodes=1)


def test_an_episode_of_a_shared_table_begins_once_all_seats_are_taken():
    lobby, terms = Lobby(), {"match": 0}
    table = lobby.sit("a", 0, terms, make_sitting)
    assert not table.join(0, seed=5, timeout=0)
    assert lobby.sit("a", 1, terms, make_sitting) is table
    with pytest.raises(ValueError, match="seed must be 5, as for the other seats of the table, not 6"):
        table.join(1, seed=6, timeout=0)
    assert table.join(1, seed=5, timeout=0) and table.wait(0, timeout=0).seat == 0
    assert not table.join(1, seed=6, timeout=0), "the seat that asks for another episode waits for the others"
    rewards: dict[int, float] = {}
    play_seat(table, 0, rewards)
    assert table.sitting.record.seed == 5
    assert table.join(0, seed=6, timeout=0)
    lobby.leave("a", 0)
    play_seat(table, 1, rewards)
    assert table.sitting.record.seed == 6
    lobby.leave("a", 1)
    assert lobby.sit("a", 1, terms, make_sitting) is not table, "a table that all have left is a new one"
    lobby.leave("a", 1)


def test_seats_of_a_lobby_are_checked():
    lobby = Lobby()
    with pytest.raises(ValueError, match="seat must be given: one of 0, 1, the open seats"):
        lobby.sit("a", None, {}, make_sitting)
    table = lobby.sit("a", 0, {"match": 0}, make_sitting)
    with pytest.raises(ValueError, match="seat 0 of table 'a' is taken"):
        lobby.sit("a", 0, {"match": 0}, make_sitting)
    with pytest.raises(ValueError, match="match must be 0, as at table 'a', not 1"):
        lobby.sit("a", 1, {"match": 1}, make_sitting)
    with pytest.raises(ValueError, match="seat must be one of 0, 1"):
        lobby.sit("a", 5, {"match": 0}, make_sitting)
    assert table.seats == (0, 1)
    lobby.leave("a", 0)


class Thinking:
    """A sitting of two seats whose steps take until they are let go, and may fail."""

    seats = (0, 1)

    def __init__(self) -> None:
        self.begun, self.free = threading.Event(), threading.Event()
        self.ended: list[str] = []
        self.error: Exception | None = None

    def start(self, seed=None) -> Turn:
        return Turn("", (), {}, 0, False, 0.0, {})

    def step(self, text: str) -> Turn:
        self.begun.set()
        self.free.wait()
        if self.error is not None:
            raise self.error
        return Turn("", (), {}, 1, False, 0.0, {})

    def abandon(self) -> None:
        self.ended.append("abandoned")

    def close(self) -> None:
        self.ended.append("closed")


@pytest.fixture
def thinking():
    """A table at which seat 0 has answered, and its answer is still being played."""
    sitting = Thinking()
    table = Table(sitting)
    table.start()
    errors = []

    def answer() -> None:
        try:
            table.answer(0, FIRST)
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=answer)
    thread.start()
    sitting.begun.wait()
    yield sitting, table, thread, errors
    sitting.free.set()
    thread.join()


def test_limits_of_time_hold_while_an_answer_is_played(thinking):
    sitting, table, _thread, _ = thinking
    assert table.wait(1, timeout=0) is None and table.wait(0, timeout=0) is None
    with pytest.raises(NotAsked, match="an answer is being played"):
        table.answer(1, FIRST)
    sitting.free.set()
    assert table.wait(1).seat == 1


def test_an_error_of_the_job_is_raised_in_every_wait(thinking):
    sitting, table, thread, errors = thinking
    sitting.error = RuntimeError("the partner is ill")
    sitting.free.set()
    thread.join()
    for seat in (0, 1):
        with pytest.raises(RuntimeError, match="the partner is ill"):
            table.wait(seat)
    assert errors == [sitting.error]


def test_a_table_that_all_leave_while_an_answer_is_played_is_closed_after_it(thinking):
    sitting, table, thread, _ = thinking
    table.close()
    assert not sitting.ended
    sitting.free.set()
    thread.join()
    assert sitting.ended == ["closed"]


def test_a_further_wait_of_a_seat_ends_the_one_before(thinking):
    sitting, table, _thread, _ = thinking
    turns = []
    waiters = [threading.Thread(target=lambda: turns.append(table.wait(1))) for _ in range(30)]
    for waiter in waiters:
        waiter.start()
    for waiter in waiters[:-1]:
        while waiter.is_alive() and len(turns) < len(waiters) - 1:
            waiter.join(0.01)
    assert turns == [None] * 29
    sitting.free.set()
    for waiter in waiters:
        waiter.join()
    assert turns[-1].seat == 1


def test_seconds_are_numbers():
    table = Table(Thinking())
    table.start()
    with pytest.raises(ValueError, match="timeout must be a number of seconds, not nan"):
        table.wait(1, timeout=float("nan"))


def test_the_thread_of_a_table_ends_with_it():
    before = set(threading.enumerate())
    table = make_sitting()
    lobby = Lobby()
    assert lobby.sit("a", 0, {}, lambda: table).sitting is table
    lobby.leave("a", 0)
    assert set(threading.enumerate()) <= before
