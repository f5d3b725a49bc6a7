"""Every command of the page on the papers' tables runs, on a tiny budget, with a scripted model."""

from __future__ import annotations

import json
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.cli_runner import CliRunner
from support.endpoints import Says, serving

from collab_overcooked.cli import app
from collab_overcooked.cli.evaluate import presets_of
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.registry import load_suite
from collab_overcooked.reporting.plan_trees import COSTS
from collab_overcooked.reporting.results import score_records

PAGE = Path(__file__).resolve().parents[2] / "docs" / "archive" / "papers.md"
COMMANDS = re.findall(r"`collab-overcooked ([^`]+)`", PAGE.read_text("utf-8"))
SHORT = ["--set", "max_cycles=3"]
TINY: dict[str, dict[str, str]] = {
    "collab-overcooked": {"--levels": "1", "--episodes": "1"},
    "initiations": {"--episodes": "1"},
    "cuisineworld": {"--levels": "1", "--agents": "2", "--alphas": "1.0", "--episodes": "1", "--runs": "1"},
    "craft": {"--levels": "field", "--agents": "2", "--paces": "1", "--episodes": "1"},
    "overcooked": {"--episodes": "1", "--max-cycles": "3"},
    "questions": {"--games": "CollabCapture-v0"},
    "collab-capture": {"--episodes": "1"},
    "collab-escape": {"--episodes": "1"},
    "rush": {"--runs": "1", "--scenario": "easy", "--domain": "kitchen", "--episodes": "2"},
    "housework": {"--tasks": "set_table", "--episodes": "1"},
    "transport": {"--tasks": "stuff", "--episodes": "1", "--rooms": "6", "--containers": "2"},
}
PRINTED: dict[str, tuple[str, ...]] = {  # columns of the tables that a suite's commands print
    "collab-overcooked": ("SR %", "PC %", "TES 0 %", "TES 1 %", "IC %", "RC %"),
    "initiations": ("Due action", "right %", "premature", "repetitive", "irrelevant", "silent"),
    "cuisineworld": ("CoS",),
    "craft": ("CoS",),
    "overcooked": ("Layout", "score", "soups"),
    "questions": ("accuracy", "chance"),
    "collab-capture": ("turns ± SE", "caught %"),
    "collab-escape": ("turns ± SE", "escaped %"),
    "rush": ("CR", "RR", "turns", "balance", "A+", "A-", "A=", "ended early %"),
    "housework": ("ticks", "talk_ticks", *(f"{cost} per plan update" for cost in COSTS)),
    "transport": ("rate", "talk_ticks", *(f"{cost} per plan update" for cost in COSTS)),
}
CLAIMED: dict[str, tuple[str, ...]] = {  # what a row names beyond its suite's columns, by the end of its command
    "runs/dfs": ("calls per episode", "characters per episode"),
    "runs/cots-charged": ("calls per episode", "characters per episode"),
    "runs/questions": ("Theory of mind", "Situated reasoning"),
    "runs/helper": ("frozen",),
    "score runs/collab --by-task": ("Task", "SR %", "PC %", "IC %", "RC %"),
    "score runs/collab --more --denominator required": ("Redundancy 0 %", "Efficiency 1 %", "required"),
    "score runs/gamma --gamma 1,1.2,1.5,2": ("1.2", "1.5", "Level"),
    "score runs/experiment-a": ("premature", "repetitive", "irrelevant", "silent"),
    "score runs/rush --losses": ("lost orders",),
    "list tasks": ("reference time 16", "new ingredients", "new dishes", "collaborative actions 2"),
    "list dishes": ("tools", "ingredients", "steps", "largest mixture"),
    "describe level_9": ("MaxJr = lettuceSlice + sauteedBeef",),
    **{
        f"score --compare {command}": titles
        for command, titles in {
            "runs/collab runs/gamma runs/experiment-a runs/experiment-b runs/experiment-c": (
                *("Success rate by level", "Initiating capability by level"),
                *("Right initiations by due action", "Right responses by due action", "Success rate by time limit"),
            ),
            "runs/cuisineworld --page runs/cuisineworld.html": ("CoS by number of agents", "Dishes by level"),
            "runs/rush runs/observation runs/taught runs/placebo runs/mixed-group --page runs/by-player.html": (
                *("CR by condition", "A+", "A-", "by player", "shared seeds", "against placebo_group"),
            ),
        }.items()
    },
}
LONG = ("craft", "overcooked", "questions", "initiations")  # whose episodes are not cut by an option of every game


def tiny(command: str) -> list[str]:
    """Return a command with the least of everything."""
    arguments = shlex.split(command)
    if arguments[0] != "evaluate":
        return arguments
    for name, value in TINY[arguments[1]].items():
        if name == "--levels" and "ppo:" in command:  # a trained policy plays its own level
            continue
        if name in arguments:
            arguments[arguments.index(name) + 1] = value
        else:
            arguments += [name, value]
    if "--layouts" in arguments:
        place = arguments.index("--layouts") + 1
        arguments[place] = arguments[place].partition(",")[0]
    judged_later = "--gamma" in arguments  # by other time limits, for which it has to be long enough
    return arguments + (SHORT if arguments[1] not in LONG and not judged_later else [])


def words(command: str) -> set[str]:
    """Return what a command tries: itself, with its suite if it plays, and otherwise the names of its options."""
    arguments = shlex.split(command)
    if arguments[0] == "evaluate":
        return {" ".join(arguments[:2])}
    return {arguments[0], *(word for word in arguments if word.startswith("--"))}


def cover() -> list[str]:
    """Return few commands that try every command and suite of the page, and those whose runs they read."""
    missing, chosen = set().union(*map(words, COMMANDS)), set()
    while missing:
        best = max(COMMANDS, key=lambda command: len(words(command) & missing))
        chosen.add(best)
        missing -= words(best)
    read = {word for command in chosen if not command.startswith("evaluate") for word in shlex.split(command)}
    runs = {command: shlex.split(command)[-1] for command in COMMANDS if command.startswith("evaluate")}
    return [command for command in COMMANDS if command in chosen or runs.get(command) in read]


def claimant(command: str) -> str:
    """Return the key of a command in the tables of claims: its folder if it plays, else the whole command."""
    arguments = shlex.split(command)
    return option_of(arguments, "--out") if arguments[0] == "evaluate" else command


def test_every_row_says_what_it_prints() -> None:
    """Rows that play have at least the columns of their suite, and all others what they are there for."""
    readers = {command for command in COMMANDS if command.split()[0] not in ("evaluate", "study")}
    folders = {claimant(command) for command in COMMANDS if command.startswith("evaluate")}
    assert {command for command in readers if not CLAIMED.get(command)} == set()
    assert set(CLAIMED) <= readers | folders
    without = [command for command in COMMANDS if command.split()[1] in ("initiations", "questions")]
    assert folders - set(PUBLISHED) == set(map(claimant, without)), "the papers print numbers of no other suite here"
    assert all(PRINTED[command.split()[1]] for command in COMMANDS if command.startswith("evaluate"))


def test_every_paper_has_its_tables() -> None:
    assert len(COMMANDS) > 30
    assert {command.split()[1] for command in COMMANDS if command.startswith("evaluate")} == set(TINY)


def test_models_have_the_temperatures_of_the_papers() -> None:
    asked = [word for command in COMMANDS for word in command.split() if "teacher" not in word]
    models = [model for word in asked for model in re.findall(r"llm:[^ ,]+\S*", word)]
    assert [model for model in models if not re.search("preset=|temperature=", model)] == []
    assert all("temperature=0.5" in model for model in models if "helper=on" in model)


def test_rush_is_asked_as_in_its_paper_and_its_taught_students_have_no_manual() -> None:
    rush = [shlex.split(command) for command in COMMANDS if command.startswith("evaluate rush")]
    models = [word for arguments in rush for word in arguments if re.match(r"(all|agent_\d)=llm:", word)]
    assert models and all("preset=rush" in model for model in models)
    taught = [arguments for arguments in rush if "--teacher" in arguments]
    assert taught and all("manual=off" in arguments[arguments.index("--team") + 1] for arguments in taught)
    summaries = [shlex.split(command) for command in COMMANDS if command.startswith("score --compare runs/rush")]
    _, widest = max((len(words), words) for words in summaries)
    assert {arguments[arguments.index("--out") + 1] for arguments in rush} <= set(widest)


def test_studies_of_the_page_can_be_started() -> None:
    """Built-in studies hold placeholders, with which nobody but their author may take part."""
    studies = [command for command in COMMANDS if command.startswith("study")]
    assert studies and all("rehearse" in command or "--preview" in command for command in studies)


MODELS = {"GPT-4", "Claude-2", "LLaMA2", "ChatGPT"}
CARRIED = {  # tables 1 and 3 of CoTS, which stand in tables of their own
    *(f"{agent} {model}" for agent in ("CoELA", "RoCo", "CaPo", "CoTS") for model in ("GPT-3.5", "GPT-4")),
    *("RHP alone", "RHP pair", "MAT"),
    *("all parts", "without reward", "without plan rating and update", "without tree search (n=1)"),
}
TIDIED = {  # tables 2, 4 and 5
    *(f"{agent} GPT-4" for agent in ("CoELA", "RoCo", "CaPo", "CoTS", "CoT", "ToT-DFS")),
    *("MHP alone", "MHP pair", "CoELA GPT-4 with a person", "CoTS GPT-4 with a person", "CoTS", "ToT (DFS)"),
}
PUBLISHED: dict[str, set[str]] = {  # published rows and columns beside a language model, by the command's first folder
    "runs/cuisineworld": {"GPT-4", *(f"{model}, published" for model in MODELS)},
    "runs/no-hints": {"GPT-4, without inference knowledge, published"},
    "runs/no-feedback": {"GPT-4, without feedback, published"},
    "runs/few": {"GPT-4, few-step demonstration, published"},
    "runs/demo": {"GPT-4, demonstration of 2 agents, published"},
    "runs/table-1": {"PPO_SP", "PBT", "LLM-Co"},
    "runs/no-helper": {"PPO_SP", "PBT", "LLM-Co without helper"},
    "runs/forced": set(),
    "runs/helper": {"PPO_SP", "PBT", "LLM-Co", "LLM-Co with helper"},
    "runs/table-2": {"BC + proxy", "PPO_BC + proxy", "LLM-Co + proxy"},
    "runs/alone": {"PPO_SP", "PBT", "LLM-Co"},
    "runs/rush": {"GPT-4o, published", "Gemini 1.5 Flash, published"},
    "runs/observation": set(),
    "runs/taught": set(),
    "runs/mixed-group": set(),
    "runs/collab": set(),
    "runs/gamma": set(),
    "runs/placebo": set(),
    "runs/craft": {"gpt-4, published"},
    "runs/table-12": {"GPT-4", *(f"{who}, published" for who in ("GPT-4", "GPT-4 at alpha 2.5", "masked PPO"))},
    "runs/ppo-cramped_room": {"PPO_SP", "PBT", "LLM-Co"},
    "runs/pbt-cramped_room": {"PPO_SP", "PBT", "LLM-Co"},
    "runs/ppo-bc-cramped_room": {"BC + proxy", "PPO_BC + proxy", "LLM-Co + proxy"},
    **{f"runs/{game}{year}": set[str]() for game in ("capture", "escape") for year in ("", "-2024")},
    **dict.fromkeys(("runs/cots-transport", "runs/no-reward", "runs/branches-1"), CARRIED),
    **dict.fromkeys(("runs/cots-housework", "runs/cots-charged", "runs/dfs"), TIDIED),
}
STAND_INS: dict[str, dict[str, Any]] = {  # little of each suite, of which the papers print numbers
    "collab-overcooked": {"levels": "1", "episodes": 1},
    "cuisineworld": {"episodes": 1},
    "overcooked": {"episodes": 1},
    "rush": {"scenario": ["hard"], "domain": ["kitchen"], "episodes": 1},
    "craft": {"levels": "field", "agents": 2, "episodes": 1},
    "collab-capture": {"episodes": 1},
    "collab-escape": {"episodes": 1},
    "housework": {"tasks": ["set_table"], "episodes": 1},
    "transport": {"tasks": ["stuff"], "rooms": [6], "containers": [2], "episodes": 1},
}
PLAYED = [command for command in COMMANDS if command.startswith("evaluate") and command.split()[1] in STAND_INS]


def option_of(arguments: list[str], name: str, default: str = "") -> str:
    """Return the value of an option in a command."""
    return arguments[arguments.index(name) + 1] if name in arguments else default


def stand_in(command: str) -> list[Any]:
    """Return whole episodes with the options of a command's presets and levels, idly played and given to its team."""
    arguments = shlex.split(command)
    suite, team = arguments[1], [word for word in arguments if re.match(r"(all|agent_\d)=", word)]
    options = {name: value for preset in presets_of(suite, team) for name, value in preset.options.items()}
    entry = dict(STAND_INS[suite])
    if suite == "cuisineworld":
        entry["agents"] = [int(number) for number in option_of(arguments, "--agents").split(",")]
        entry["levels"] = option_of(arguments, "--levels", "3")
        entry["alphas"] = [float(option_of(arguments, "--alphas", "1.0"))]
    if suite == "overcooked":
        entry["layouts"] = option_of(arguments, "--layouts").partition(",")[0]
    specs = dict(word.split("=", 1) for word in team)
    seats = tuple(specs.get(seat, specs.get("all", "")) for seat in ("agent_0", "agent_1"))
    options |= {name: default(seats) for name, default in load_suite(suite).team_defaults.items()}
    teacher = option_of(arguments, "--teacher", "none").partition(":")[0]
    records = []
    for record in idle_episodes(suite, json.dumps([options, entry], sort_keys=True)):
        played = record.replace(team={seat: specs.get(seat, specs.get("all", "")) for seat in record.team})
        records.append(played.replace(teacher=teacher) if suite == "rush" else played)
    return records


@cache
def idle_episodes(suite: str, choices: str) -> list[Any]:
    """Return episodes of an idle team with options of the environment and of the suite, once for all commands."""
    options, entry = json.loads(choices)
    plan = plan_evaluation(suite, ["all=always:nothing"], options=options, **entry)
    return [record for match in plan.matches for record in match.run()]


@pytest.mark.parametrize("command", PLAYED, ids=lambda command: command.rpartition(" ")[2])
def test_published_numbers_stand_beside_the_teams_that_they_are_of(command: str) -> None:
    """The options of a paper's preset are no deviation from that paper."""
    names = set()
    cards = score_records(stand_in(command))
    for table in (table for card in cards for table in card.tables):
        names |= {column.name for column in table.columns if column.published}
        names |= {str(table.rows[row][0]).strip() for row, mark in table.marks.items() if mark == "published"}
        names |= {str(row[0]) for row in table.rows} if table.columns[0].name.startswith("Published") else set()
    assert names == PUBLISHED[command.rpartition(" ")[2]]


@pytest.mark.parametrize(
    "commands",
    [
        pytest.param(cover(), id="cover", marks=pytest.mark.slow),
        pytest.param(COMMANDS, id="all", marks=pytest.mark.nightly),
    ],
)
def test_the_commands_of_the_page_run(commands: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai", reason="needs the extra llm")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    plan = "request('cut(chopping_board0)'); wait(1)"  # so that there are responses
    answer = json.dumps({"action": 1, "answer": "A", "plan": plan, "say": "Please cut it. [END]", "analysis": ""})
    with serving(lambda asked: Says(answer)) as server:
        for command in commands:
            if command.startswith("study"):  # tests/study lets bots answer them
                continue
            more = ["--base-url", server.url, "--max-unusable", "0"] if "llm:" in command else []
            brief = ["--no-report"] if command.startswith("evaluate") and len(commands) < len(COMMANDS) else []
            brief += ["--format", "json"] if command.startswith("score") else []  # headings in one line
            done = CliRunner().invoke(app, [*tiny(command), *more, *brief])
            codes = (0, 3) if more else (0,)  # 3: no answer of the scripted model was of use in this game
            assert done.exit_code in codes, f"{command}\n{done.output[-3000:]}"
            arguments = shlex.split(command)
            claimed = set(CLAIMED.get(claimant(command), ()))
            if arguments[0] == "evaluate":
                cards = json.loads(Path(option_of(arguments, "--out"), "table.json").read_text("utf-8"))
                columns = {name for card in cards for table in card["tables"] for row in table["rows"] for name in row}
                missing = (claimed | set(PRINTED[arguments[1]])) - columns
                missing -= set() if "agent=cots" in command else {name for name in missing if "plan update" in name}
                assert not missing, f"{command} prints no {missing}, but {sorted(columns)}"
            else:
                missing = {name for name in claimed if name not in " ".join(done.stdout.split())}
                assert not missing, f"{command} prints no {missing}, but {done.stdout}"
        assert server.asked
