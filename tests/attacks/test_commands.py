"""Wrong invocations of every command: exit code 2, one line on standard error, nothing on standard output."""

from __future__ import annotations

import json
import random

import pytest
from attacks.mutations import VALUES
from attacks.records import write_records
from support.cli_runner import CliRunner

from collab_overcooked.cli import app

pytestmark = pytest.mark.attacks

NUMBERS = ("-1", "0", "x", "1e99", "nan", "inf", "")
PLAY = ("play", "rush", "--no-open", "--out", "NEW")
STUDY = ("study", "run", "EVIL")
WRONG = [
    *((*PLAY, "--team", team) for team in ("all=greedy", "agent_0=person", "agent_0=person all=ppo:nope")),
    *((*PLAY, "--team", "agent_0=person all=llm:m"), (*PLAY, "--team", "agent_0=person all=nope")),
    *((*PLAY, option, number) for option in ("--tick", "--decide-within") for number in NUMBERS),
    *((*PLAY, "--grace", number) for number in ("-1", "nan", "inf", "x")),
    *((*PLAY, option, "x") for option in ("--clock", "--show", "--menu", "--names", "--on-leave", "--port", "--seed")),
    *((*PLAY, "--port", number) for number in ("-1", "99999", "1e9", "")),
    *(
        ("significance", "RUN", "RUN", "--metrics", ",,"),
        ("score", "RUN", "--metrics", ","),
        ("score", "--compare", "FILE"),
    ),
    *(("evaluate", "collab-escape", "--maps", ",,"), ("evaluate", "collab-overcooked", "--tasks", ",,")),
    ("train", "ppo", "--config", "cramped_room", "--hyper", "batch_size=1", "--out", "NEW"),
    *((*PLAY, "--address", "0.0.0.0"), (*PLAY, "--base-url", "http://x"), (*PLAY, "--scenario", "nope")),
    *((*PLAY, "--set", "x"), (*PLAY, "--max-turns", "0"), ("play", "nope"), ("play", "questions", "--no-open")),
    *((*PLAY[:3], "--out", "RUN"), (*PLAY[:3], "--out", "FILE")),
    *(("study",), ("study", "run"), ("study", "run", "nope"), STUDY, (*STUDY, "--partner", "x")),
    *(("study", "run", "FILE"), ("study", "rehearse", "EVIL", "1"), ("study", "rehearse", "EVIL", "x")),
    *(("study", what, "STUDY", *more) for what, more in (("export", ("--out", "NEW")), ("forget", ("p-1",)))),
    *(("study", "export", place, "--out", "NEW") for place in ("RUN", "FILE", "NEW")),
    *(("study", "forget", "RUN", "p-1"), ("study", "export", "STUDY", "--out", "NEW", "--format", "nope")),
    *(("significance", *rest) for rest in ((), ("RUN",), ("RUN", "RUN"), ("RUN", "NEW"), ("STUDY",), ("RUN", "ODD"))),
    *(("significance", "RUN", "FILE"), ("significance", "RUN", "RUN", "--format", "nope")),
    *(("score", "--compare", *rest) for rest in ((), ("RUN", "RUN"), ("NEW",), ("ODD",), ("RUN", "--format", "x"))),
    *(("score", "RUN", "--page", "x.html"), ("score", "RUN", "RUN", "--check"), ("score", "FILE", "--check")),
    *(("replay", "RUN", "--plan", "0", "--episode", "9"), ("replay", "ODD"), ("replay", "FILE", "--plan", "0")),
    *(("questions", "list", option, "nope") for option in ("--games", "--kinds", "--parts", "--skills", "--file")),
    *(("describe", "nope-own"), ("describe", "x", "--file", "DEEP")),
    ("questions", "list", "--file", "ODD/records.jsonl"),
    *(("check", what) for what in ("nope", "NEW.yaml", "FILE", "EVIL", "DEEP", "/dev/null")),
    *(("check", "nine_rooms", "--preset", "nope"), ("check", "easy", "--nope"), ("check", "--json"), ("check",)),
    *(("generate", "nope"), ("generate", "CuisineWorld-v0", "--out", "NEW"), ("generate", "KitchenRush-v0")),
    *(("generate", "KitchenRush-v0", "--out", "NEW.yaml", "--tightness", number) for number in ("2", "nan", "-1", "x")),
    *(("generate", "KitchenRush-v0", "--out", "NEW.yaml", option, "0") for option in ("--turns", "--agents")),
    *(("generate", game, "--out", "NEW.yaml", "--seed", "-1") for game in ("CollabCapture-v0", "CraftKitchen-v0")),
    *(("replay", "DEEP"), ("score", "DEEP"), ("score", "FILE"), ("report", "ODD"), ("render", "ODD", "--out", "x.gif")),
    *(("evaluate", "craft", option, number) for option in ("--agents", "--paces") for number in ("0", "x", "99")),
    *(("evaluate", "transport", option, number) for option in ("--rooms", "--agents") for number in ("-1", "x", "99")),
    *(("evaluate", "collab-escape", option, "nope") for option in ("--presets", "--maps", "--adversaries")),
    *(("evaluate", "overcooked", "--team", f"all={spec}") for spec in ("cots:depth=0", "cots:x=1", "mcts:0", "person")),
]


@pytest.fixture(scope="module")
def places(donors, tmp_path_factory):
    """Words that stand for files and folders of all kinds."""
    root = tmp_path_factory.mktemp("wrong")
    write_records(root / "run", [donors["rush"]])
    step = {**donors["rush"]["steps"][0], "tokens": ["x", {}], "events": [{"label": 5}, None]}
    write_records(root / "odd", [donors["rush"] | {"team": {"agent_0": 5}, "steps": [step]}])
    (root / "file").write_bytes(bytes(range(256)))
    (root / "deep").write_text("[" * 100_000 + "\n")
    (root / "evil.yaml").write_text(json.dumps({"title": "x", "consent": "y", "play": {"on_leave": 5}, "blocks": []}))
    (root / "study").mkdir()
    (root / "study" / "journal.jsonl").write_text('{"event": "joined"}\n')
    (root / "study" / "config.json").write_text('{"study": "x", "conditions": 5}\n')
    names = {"NEW": "new", "RUN": "run", "ODD": "odd", "FILE": "file", "DEEP": "deep", "EVIL": "evil.yaml"}
    return {word: str(root / name) for word, name in (names | {"STUDY": "study"}).items()}


def run(text, places):
    filled = [next((word.replace(key, place) for key, place in places.items() if key in word), word) for word in text]
    return CliRunner(env={"OPENAI_API_KEY": "", "COLUMNS": "200"}).invoke(app, filled, catch_exceptions=False)


def is_refused(done):
    assert done.exit_code == 2, done.output
    lines = done.stderr.splitlines()
    assert "Usage" in done.output or lines[0].startswith("error: "), done.output
    assert len(lines) == 1 or "Usage" in done.output
    assert "Traceback" not in done.output and "\x1b" not in done.output and len(done.stderr) < 3000
    assert not done.stdout.strip() or "Usage" in done.stdout


EVERY = 3  # with the other tests; `make test-attacks` runs all
CASES = [
    pytest.param(w, id=" ".join(w)[:60], marks=pytest.mark.nightly if k % EVERY else ()) for k, w in enumerate(WRONG)
]


@pytest.mark.parametrize("text", CASES)
def test_wrong_invocations_are_one_line(text, places, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    is_refused(run([part for word in text for part in (word.split() if "=" in word else [word])], places))


@pytest.mark.parametrize(
    "command", ["evaluate", "play", "study", "significance", "check", "questions", "score", "describe"]
)
def test_hostile_words_are_no_commands(command, places, attack_seed, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    texts = [value for value in VALUES if isinstance(value, str) and "\x00" not in value and "\ud800" not in value]
    for value in random.Random(f"{command}{attack_seed}").sample([*texts, "\x1b[31m", "[red]x[/red]", "{0}"], 4):
        is_refused(run([command, value], places))
