from __future__ import annotations

import json
import multiprocessing

import pytest

from collab_overcooked.policies.llm.client import Client
from collab_overcooked.policies.llm.exchange import ChatMessage, EndpointError, Reply, Request
from collab_overcooked.policies.llm.store import Store


def question(text="now?", **options):
    return Request("m", (ChatMessage("user", text),), **options)


class Counting:
    def __init__(self):
        self.asked = []

    def complete(self, request):
        self.asked.append(request)
        return Reply(f"answer {len(self.asked)}", seconds=0.25, prompt_tokens=7)


def test_what_was_asked_once_is_not_asked_again(tmp_path):
    client = Counting()
    recording = Client(client.complete, store=Store(tmp_path / "deep" / "store.jsonl"))
    first = recording.complete(question())
    assert recording.complete(question()) == first == Reply("answer 1", seconds=0.25, prompt_tokens=7)
    assert recording.complete(question("else?")).text == "answer 2"
    assert len(client.asked) == 2


def test_a_store_outlives_its_process(tmp_path):
    path = tmp_path / "store.jsonl"
    reply = Client(Counting().complete, store=Store(path)).complete(question("ümlaut \u2028?"))
    assert Client(replay=Store(path)).complete(question("ümlaut \u2028?")) == reply
    line = json.loads(path.read_text(encoding="utf-8"))
    assert line["request"]["turns"] == [["user", "ümlaut \u2028?"]]
    assert line["key"] == question("ümlaut \u2028?").key


@pytest.mark.parametrize(
    "other",
    [
        Request("n", question().turns),
        question("then?"),
        question(temperature=0.5),
        question(max_tokens=5),
        question(schema={"type": "object"}),
        question(sample="1"),
        Request("m", (ChatMessage("system", "now?"),)),
    ],
)
def test_every_difference_is_another_question(other):
    assert other.key != question().key


def test_keys_are_constants_of_the_format():
    assert question(max_tokens=512).key == "a5d567a5bf028e381de9a8414e86a035d2274ea16a0ff18e9dabb6bc049ca318"


def test_lines_are_constants_of_the_format(tmp_path):
    store = Store(tmp_path / "s.jsonl")
    store.put(question("ü?", body={"top_p": 0.5}, position="7/0/0"), Reply("a", "length", 7, 3, 0.25), again=True)
    key = question("ü?", body={"top_p": 0.5}).key
    assert store.path.read_text(encoding="utf-8") == (
        f'{{"schema":"collab-overcooked-exchange/1","key":"{key}","moment":"7/0/0",'
        '"request":{"model":"m","turns":[["user","ü?"]],"temperature":0.0,"max_tokens":0,"schema":null,"sample":"",'
        '"body":{"top_p":0.5}},'
        '"reply":{"text":"a","finish":"length","prompt_tokens":7,"completion_tokens":3,"seconds":0.25,"attempts":1,'
        '"detail":"","reasoning":"","cached_tokens":0,"reasoning_tokens":0}}\n'
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": None}, r"reply\.text must be a text, not None"),
        ({"finish": "done"}, r"reply\.finish must be one of length, refused, rejected, stop, not 'done'"),
        ({"prompt_tokens": -1}, r"reply\.prompt_tokens must be an integer of at least 0, not -1"),
        ({"prompt_token": 1}, r"unknown key 'prompt_token'.*did you mean prompt_tokens"),
    ],
)
def test_a_wrong_reply_is_refused_by_its_field(tmp_path, change, message):
    path = tmp_path / "s.jsonl"
    Store(path).put(question(), Reply("x"))
    line = json.loads(path.read_text())
    path.write_text(json.dumps(line | {"reply": line["reply"] | change}) + "\n")
    with pytest.raises(ValueError, match=rf"s\.jsonl, line 1: not a stored exchange: .*{message}"):
        Store(path)


def test_replay_says_what_it_lacks(tmp_path):
    Client(Counting().complete, store=Store(tmp_path / "s.jsonl")).complete(question())
    with pytest.raises(EndpointError, match=r"s\.jsonl.*'m'.*else"):
        Client(replay=Store(tmp_path / "s.jsonl")).complete(question("else?"))


def test_a_server_that_varies_is_replayed_by_position(tmp_path):
    """Equal questions in several places of a run have several answers; each place gets its own again."""
    path, places = tmp_path / "s.jsonl", [question(position=f"7/0/{count}") for count in range(4)]
    keeping = Client(Counting().complete, keep=Store(path))
    live = [keeping.complete(place).text for place in (*places, places[1])]
    assert live == ["answer 1", "answer 2", "answer 3", "answer 4", "answer 2"]
    replay = Client(replay=Store(path))
    assert [replay.complete(place).text for place in (*places, places[1])] == live
    assert "5 replies found by their position" in replay.summary() and "alone" not in replay.summary()
    assert replay.complete(question(position="8/0/0")).text == "answer 4"
    assert "1 by their request alone" in replay.summary()


def test_the_first_of_two_answers_at_a_position_counts(tmp_path):
    """Episodes that share seed and questions, such as those of a cross-play, run at the same time."""
    path, place = tmp_path / "s.jsonl", question(position="7/0/0")
    one, two = Store(path), Store(path)
    assert one.put(place, Reply("a"), again=True).text == two.put(place, Reply("b"), again=True).text == "a"
    assert Client(replay=Store(path)).complete(place).text == "a"


def test_an_unfinished_last_line_is_dropped(tmp_path, caplog):
    path = tmp_path / "s.jsonl"
    Client(Counting().complete, store=Store(path)).complete(question())
    full = path.read_bytes()
    path.write_bytes(full + full[:30])
    store = Store(path)
    assert len(store) == 1
    store.put(question("else?"), Reply("x"))
    assert len(Store(path)) == 2
    assert caplog.messages == [f"{path}: dropped an unfinished last line; its exchange is requested again"]


def test_a_damaged_line_is_named(tmp_path):
    path = tmp_path / "s.jsonl"
    Client(Counting().complete, store=Store(path)).complete(question())
    path.write_bytes(path.read_bytes() + b'{"schema": "else"}\n')
    with pytest.raises(ValueError, match="line 2"):
        Store(path)


def test_the_first_of_two_answers_counts(tmp_path):
    store = Store(tmp_path / "s.jsonl")
    assert store.put(question(), Reply("a")).text == "a"
    assert store.put(question(), Reply("b")).text == "a"
    assert len((tmp_path / "s.jsonl").read_text().splitlines()) == 1


def test_two_runs_share_a_store(tmp_path):
    path = tmp_path / "store.jsonl"
    models = Counting(), Counting()
    one, two = (Client(model.complete, store=Store(path)) for model in models)
    reply = one.complete(question())
    assert two.complete(question()) == reply and not models[1].asked
    assert [two.complete(question(f"{i}?")).text for i in range(2)] == ["answer 1", "answer 2"]
    assert two.store.put(question(), Reply("slower")) == reply  # asked at the same time: what was kept first counts
    one.complete(question("of one?"))
    kept = Store(path)
    assert len(kept) == len(path.read_text().splitlines()) == 4
    assert kept.get(question("0?")).text == "answer 1"


def _fill(path, name):
    store = Store(path)
    for i in range(200):
        store.put(question(f"{name} {i}?"), Reply("x" * (i * 7 % 300)))


def test_processes_that_share_a_store_tear_no_line(tmp_path):
    path = tmp_path / "store.jsonl"
    context = multiprocessing.get_context("spawn")
    runs = [context.Process(target=_fill, args=(path, name)) for name in "ab"]
    for run in runs:
        run.start()
    for run in runs:
        run.join(120)
    assert len(Store(path)) == len(path.read_text().splitlines()) == 400


def test_a_store_that_was_taken_away_begins_anew(tmp_path):
    store = Store(tmp_path / "store.jsonl")
    store.put(question("1?"), Reply("one"))
    store.path.unlink()
    store.put(question("2?"), Reply("two"))
    assert Store(store.path).get(question("2?")).text == "two"
