"""The command line as a whole: help, mistakes in one line, versions."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cli_runner import run

from collab_overcooked import __version__, registry
from collab_overcooked.cli import PANELS
from collab_overcooked.cli.app import commands


def test_version_is_printed():
    assert run("--version").stdout == f"collab-overcooked {__version__}\n"


TEAM = ["--team", "agent_0=random", "agent_1=random"]


EVALUATE = ["evaluate", "collab-overcooked", "--out", "OUT"]


@pytest.mark.parametrize(
    ("texts", "named"),
    [
        ([*EVALUATE, "--team", "agent_0=randm", "agent_1=random"], "unknown policy 'randm'; did you mean random"),
        ([*EVALUATE, "--team", "agent_0=random"], "no policy for agent_1"),
        ([*EVALUATE, "--team", "agent_0=random", "agent_7=random"], "unknown seat 'agent_7'"),
        ([*EVALUATE, "--team", "random"], "'random' should read seat=policy"),
        ([*EVALUATE, *TEAM, "--tasks", "boiled_eg"], "unknown task 'boiled_eg'; did you mean boiled_egg"),
        ([*EVALUATE, *TEAM, "--levels", "1-7"], "unknown level 7; known: 1, 2, 3, 4, 5, 6"),
        ([*EVALUATE, *TEAM, "--levels", "one"], "cannot read 'one'"),
        ([*EVALUATE, *TEAM, "--levels", "1", "--tasks", "boiled_egg"], "either levels or tasks"),
        ([*EVALUATE, *TEAM, "--episodes", "0"], "episodes must be"),
        ([*EVALUATE, *TEAM, "--episodes", "many"], "--episodes"),
        ([*EVALUATE, *TEAM, "--seed", "-4"], "seed must be"),
        ([*EVALUATE, *TEAM, "--gamma", "0"], "gamma must be"),
        ([*EVALUATE, *TEAM, "--workers", "0"], "workers must be"),
        ([*EVALUATE, *TEAM, "--workers", "0"], "workers must be"),
        ([*EVALUATE, *TEAM, "--max-messages", "1001"], "max_messages must be"),
        ([*EVALUATE, *TEAM, "--kitchen", "palace"], "unknown kitchen 'palace'"),
        ([*EVALUATE, *TEAM, "--kitchen", "absent.yaml"], "absent.yaml: No such file"),
        ([*EVALUATE, *TEAM, "--set", "knowlege=full"], "unknown option 'knowlege'; did you mean knowledge"),
        ([*EVALUATE, *TEAM, "--set", "knowledge=[full"], "cannot read the value of 'knowledge=[full'"),
        ([*EVALUATE, *TEAM, "--set", "knowledge"], "should read key=value"),
        (
            ["evaluate", "collab-overcooked", *TEAM, "--tasks", "boiled_egg", "--out", "FILE/run"],
            "run: Not a directory",
        ),
        (["evaluate", "collab-overcooked", *TEAM, "--tasks", "boiled_egg", "--out", "FILE"], "file.txt: File exists"),
        (
            ["evaluate", "collab-overcooked", *TEAM, "--tasks", "boiled_egg", "--out", "RUN"],
            "another configuration: matches[0].env_kwargs.task was 'boiled_corn', now 'boiled_egg'",
        ),
        (["score", "absent.jsonl"], "absent.jsonl: cannot be read: No such file"),
        (["score", "OUT"], "OUT"),
        (["score", "CUT"], "cut.jsonl, line 2: is truncated or no JSON"),
        (["score", "RUN", "--denominator", "all"], "unknown denominator 'all'; known: conversations, required"),
        (["score", "RUN", "--format", "tabel"], "unknown format 'tabel'; did you mean table"),
        (["study", "check", "x.yaml"], "'check' is a command of its own: collab-overcooked check"),
        (["significance", "absent", "--format", "tabel"], "unknown format 'tabel'; did you mean table"),
        (["communication", "absent", "--format", "tabel"], "unknown format 'tabel'; did you mean table"),
        (
            ["study", "power", "absent", "--metrics", "score", "--effect", "1", "--format", "tabel"],
            "unknown format 'tabel'; did you mean table",
        ),
        (["replay", "absent"], "absent: cannot be read"),
        (["replay", "CUT"], "cut.jsonl, line 2"),
        (["replay", "RUN", "--episode", "5"], "5 does not exist; the episodes are 0 to 0"),
        (["replay", "RUN", "--task", "boiled_eg"], "unknown task in this file 'boiled_eg'; did you mean boiled_egg"),
        (["render", "RUN", "--out", "film.avi"], "film.avi should end in .png, .gif or .mp4"),
        (["render", "RUN", "--out", "absent/film.gif"], "no folder absent"),
        (["render", "RUN", "--episode", "-1", "--out", "x.gif"], "-1 does not exist"),
        (["report", "absent"], "absent: no such run folder"),
        (["communication", "RUN", "--rate", "3"], "option --rate is for teams with llm policies"),
        (["communication", "RUN", "--budget", "calls=3"], "option --budget is for teams with llm policies"),
        (
            ["crossplay", "--env", "Overcooked-v0", "--pool", "greedy", "a=llm:m", "--out", "OUT"],
            "pool: a is a language model; 'compare --games overcooked --policies ...' pairs these with other policies",
        ),
        (["list", "task"], "unknown listing 'task'; did you mean tasks"),
        (["list", "tasks", "--set", "kitchen=palace"], "unknown kitchen 'palace'"),
        (
            ["describe", "boiled_eg"],
            "unknown environment, task, kitchen, level, craft-level, layout, scenario or map 'boiled_eg'",
        ),
        (["describe", "absent.yaml"], "absent.yaml: No such file"),
        (["check", "absent.yaml"], "absent.yaml: No such file"),
        (["evaluat"], "evaluat"),
        (["--nope"], "--nope"),
        (["evaluate", "--seed", "1"], "name what it is about before --seed: one of collab-overcooked, "),
        (["evaluate", "overcoked"], 'Did you mean "overcooked"?'),
        ([*EVALUATE, *TEAM, "--tasks", ",,"], "tasks: cannot read ',,'"),
        ([*EVALUATE, *TEAM, "--workers", "many"], "workers must be an integer of at least 1, ray or ray:ADDRESS"),
        (["evaluate", "rush", "--attribution", "late"], "unknown attribution 'late'"),
        (["list", "tasks", "--colour"], "--colour"),
    ],
)
def test_what_users_get_wrong_is_one_line(finished, tmp_path, texts, named):
    line = (finished[0] / "records.jsonl").read_text().splitlines()[0]
    run_folder = tmp_path / "one"
    run_folder.mkdir()
    (run_folder / "records.jsonl").write_text(line + "\n")
    config = (finished[0] / "config.json").read_text().replace("boiled_egg", "boiled_corn")
    (run_folder / "config.json").write_text(config)
    (tmp_path / "cut.jsonl").write_text(line + "\n" + line[:200])
    (tmp_path / "file.txt").write_text("here")
    places = {"OUT": "new", "FILE": "file.txt", "RUN": "one", "CUT": "cut.jsonl"}
    for key, name in places.items():
        texts = [word.replace(key, str(tmp_path / name)) if word.startswith(key) else word for word in texts]
    done = run(*texts)
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith("error: ")
    assert named.replace("OUT", str(tmp_path / "new")) in done.stderr
    assert "Traceback" not in done.output


def test_a_traceback_is_there_for_those_who_ask():
    with pytest.raises(ValueError, match="unknown policy"):
        run("--traceback", "evaluate", "overcooked", "--team", "all=gredy", "--out", "never")


def test_help_loads_no_compiler_and_no_charts():
    code = (
        "import sys\nfrom collab_overcooked.cli import app\n"
        "for words in (['evaluate', '--help'], ['compare', '--help']):\n"
        "    try:\n        app(words)\n    except SystemExit:\n        pass\n"
        "print('LOADED', *({'numba', 'matplotlib', 'torch', 'PIL'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED"
    assert "--policies" in done.stdout and all(name in done.stdout for name in registry.suites())


def test_the_command_is_installed():
    command = Path(sys.executable).with_name("collab-overcooked")
    if not command.exists():
        pytest.skip("the package is not installed as a command here")
    done = subprocess.run([str(command), "list", "envs"], capture_output=True, text=True, check=True)
    assert "CollabOvercooked-v0" in done.stdout


# ------------------------------------------------------------------------------------------- first steps


def test_without_a_command_the_first_steps_are_shown():
    done = run()
    assert done.exit_code == 0
    commands = re.findall(r"collab-overcooked ((?:train|evaluate|play) .*)", done.stdout)
    assert len(commands) == 3
    for command in commands:
        name, *_ = command.split()
        assert set(re.findall(r"--[a-z]+", command)) <= set(re.findall(r"--[a-z-]+", help_of(*command.split())))
        assert name in done.stdout


def help_of(name: str, suite: str, *_: str) -> str:
    return run(name, *(() if name == "train" else (suite,)), "--help").stdout


def test_help_groups_every_command():
    listed = run("--help").stdout
    for panel, names in PANELS.items():
        assert f"─ {panel} ─" in listed
        assert all(re.search(rf"│ {name} +[A-Z]", listed) for name in names), "each says what it does"


def documented() -> Iterator[tuple[str, str]]:
    """Yield the words of each command and its docstring."""
    for name in (name for name in commands if not name.startswith("-")):
        subcommands = [word for word in commands[name] if not word.startswith("-")]
        if not subcommands:
            yield name, commands[name].default_command.__doc__
        for word in subcommands:
            yield f"{name} {word}", commands[name][word].default_command.__doc__


def test_help_of_a_command_is_its_docstring():
    for words, docstring in documented():
        shown = " ".join(run(*words.split(), "--help").stdout.partition("╭")[0].split())
        assert " ".join(docstring.split()) in shown, words


def test_the_first_line_of_a_docstring_is_the_line_in_listings():
    docstrings = dict(documented())
    for name, (_, line) in ((name, entry) for panel in PANELS.values() for name, entry in panel.items()):
        if name in docstrings:
            assert inspect.cleandoc(docstrings[name]).partition("\n\n")[0].split() == line.split(), name
    for group, command in ((commands[name], name) for name in ("evaluate", "play")):
        for suite, record in registry.suites().items():
            assert group[suite].default_command.__doc__.startswith(f"{record.summary}\n\n"), (command, suite)


@pytest.mark.parametrize("text", ["compare", "evaluate overcooked", "check levels", "study run", "score"])
def test_help_of_every_command_lists_import(text):
    assert "--import" in run(*text.split(), "--help").output


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("describe Overcooked-v0 --set agents=99", "agents must be an integer from 1 to 4, not 99"),
        ("describe cramped_room --set foo=1", "unknown option 'foo'"),
        ("describe level_9 --set agents=0", "agents must be an integer from 1 to 100, not 0"),
        ("describe rush --set foo=1", "unknown option 'foo'"),
        ("list levels --set foo=1", "unknown option 'foo'"),
        ("list envs --set foo=1", "--set is for names that a game has"),
        ("evaluate rush --team all=llm:x --dry-run --rate nan", "rate must be a number above 0, not nan"),
        ("evaluate rush --team all=llm:x --dry-run --timeout -1", "timeout must be a number above 0, not -1.0"),
        ("evaluate rush --team all=llm:x --dry-run --local-threads 0", "local-threads must be a number above 0, not 0"),
        ("evaluate rush --team all=llm:x --dry-run --max-unusable -1", "max-unusable must be at least 0, not -1"),
        ("evaluate rush --team all=llm:x --dry-run --max-corrections 99999999999", "an integer from 0 to 1000"),
        ("evaluate rush --team all=llm:x --dry-run --max-messages 99999999999", "an integer from 0 to 1000"),
    ],
)
def test_values_are_checked_where_they_are_given(command: str, problem: str) -> None:
    """Also by commands that need none of them for what they print."""
    done = run(*command.split())
    assert done.exit_code == 2 and problem in done.output, done.output


@pytest.mark.skipif(os.name == "nt", reason="needs a shell with pipes")
def test_a_reader_who_has_read_enough_is_no_error():
    command = f"{sys.executable} -m collab_overcooked list tasks"
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -1; exit ${{PIPESTATUS[0]}}"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
