"""Games, policies and metrics from outside: entry points of an installed package, `--import`, files in specs."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PACK = '''"""A package of somebody else's."""

from dataclasses import dataclass

from collab_overcooked.io.structs import Positive
from collab_overcooked.metrics.registry import Metric, MetricSet
from collab_overcooked.policies.parameters import PolicyOptions


@dataclass(frozen=True)
class Options(PolicyOptions):
    """Options of the policy."""

    every: Positive = 1


class Taker:
    """Takes the ordered parcel."""

    name = "taker"
    options_class = Options

    def __init__(self, options=Options()):
        self.every = options.every

    def reset(self, seat, info, seed):
        self.count = 0

    def act(self, seen):
        self.count += 1
        return seen.idle_action

    def reply(self, seen):
        return None


METRICS = MetricSet(
    (Metric("refusals", "Refused actions of an episode.", better="lower"),),
    lambda record: {"refusals": 7},
    ("Relay-v0",),
)
'''
ENTRY_POINTS = """[collab_overcooked.games]
Relay-v0 = relay:RECORD

[collab_overcooked.policies]
taker = relay_pack:Taker

[collab_overcooked.metrics]
refusals = relay_pack:METRICS
"""
BROKEN = """[collab_overcooked.games]
Absent-v0 = absent_module:RECORD
Leaving-v0 = leaving_module:RECORD
Own-v0 = own_error_module:RECORD
Overcooked-v0 = relay_pack:METRICS

[collab_overcooked.policies]
greedy = relay_pack:Taker

[collab_overcooked.metrics]
steps = relay_pack:Taker
"""


MODULES = {
    "leaving_module": "raise SystemExit(3)",
    "own_error_module": "class Own(BaseException):\n    pass\n\nraise Own('\\x1b[31mred\\u202e')",
}


def install(folder: Path, name: str, version: str, entries: str) -> None:
    """Write what an installer leaves of a distribution."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
    (info / "entry_points.txt").write_text(entries, "utf-8")
    for module, code in MODULES.items():
        (folder / f"{module}.py").write_text(code, "utf-8")


@pytest.fixture
def site(tmp_path):
    """Return a folder of installed packages, one of them with a game, a policy and a metric."""
    folder = tmp_path / "site"
    folder.mkdir()
    shutil.copy(ROOT / "docs" / "examples" / "relay.py", folder)
    (folder / "relay_pack.py").write_text(PACK, "utf-8")
    install(folder, "relay_pack", "1.2", ENTRY_POINTS)
    return folder


def python(*message, paths=(), folder=None, fails=False):
    """Run Python with further folders of installed packages; rules are not compiled."""
    known = {"PYTHONPATH": os.pathsep.join(map(str, (*paths, *filter(None, sys.path)))), "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, *map(str, message)]
    done = subprocess.run(command, cwd=folder, env=os.environ | known, capture_output=True, text=True)
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done


def command(*text, **options):
    return python("-m", "collab_overcooked", *text, **options)


def config_of(run):
    return json.loads((run / "config.json").read_text("utf-8"))


# ------------------------------------------------------------------------------------------- registration


def test_bad_registrations_are_refused():
    from collab_overcooked.metrics.registry import Metric, register_metric
    from collab_overcooked.policies.registry import register_policy

    with pytest.raises(ValueError, match="'greedy' is a policy of this package"):
        register_policy("greedy", "relay_pack:Taker")
    with pytest.raises(ValueError, match="letters, digits, underscores and hyphens, not 'a:b'"):
        register_policy("a:b", "relay_pack:Taker")
    with pytest.raises(ValueError, match="unknown kind of policy 'serch'; did you mean search"):
        register_policy("mine", "relay_pack:Taker", kind="serch")
    with pytest.raises(ValueError, match="factory of policy 'mine' must be a class"):
        register_policy("mine", "relay_pack")
    with pytest.raises(ValueError, match="'steps' is a metric of every game"):
        register_metric(Metric("steps", "Steps."), len)


def test_a_metric_that_fails_has_no_value_and_warns(monkeypatch, random_records):
    from collab_overcooked.metrics import registry
    from collab_overcooked.plugins import PluginWarning

    monkeypatch.setattr(registry, "_custom", {})
    registry.register_metric(registry.Metric("lines", "Steps that were recorded."), lambda record: len(record.steps))
    registry.register_metric(registry.Metric("fails", "Nothing."), lambda record: 1 / 0)
    record = random_records[0]
    assert registry.measure(record, ["lines"]) == {"lines": record.timesteps}
    with pytest.warns(PluginWarning, match="metric 'fails' cannot be computed: ZeroDivisionError"):
        assert registry.measure(record, ["fails", "lines"]) == {"fails": None, "lines": record.timesteps}


# ------------------------------------------------------------------------------------------- entry points


def test_an_installed_package_adds_a_game_a_policy_and_a_metric(site, tmp_path):
    run = tmp_path / "run"
    texts = ["--team", "all=taker:every=2", "--set", "max_cycles=3", "--episodes", "3", "--workers", "2", "--out", run]
    done = command("evaluate", "relay", *texts, paths=[site])
    assert "Relay-v0" in done.stdout
    assert config_of(run)["plugins"] == {"relay_pack": "1.2"}
    scored = command("score", run, "--metrics", "refusals,steps", "--format", "csv", paths=[site])
    assert scored.stdout.splitlines()[-1].endswith(",3.0,3.0,3.0,7.0,7.0,7.0")
    assert "Relay-v0" in command("list", "envs", paths=[site]).stdout
    assert "Takes the ordered parcel." in command("list", "policies", paths=[site]).stdout
    assert "refusals" in command("list", "metrics", paths=[site]).stdout


def test_importing_the_package_and_playing_its_games_imports_no_plug_in(site):
    code = (
        "import sys, collab_overcooked as c; c.make('KitchenRush-v0');"
        "from collab_overcooked.policies.specs import make_policy; make_policy('random');"
        "assert not {'relay', 'relay_pack'} & set(sys.modules);"
        "assert c.make('Relay-v0').game.id == 'Relay-v0'; assert 'relay' in sys.modules"
    )
    python("-W", "error", "-c", code, paths=[site])


@pytest.mark.slow
def test_broken_plug_ins_give_a_warning_each_and_break_nothing(site):
    install(site, "broken_pack", "0.3", BROKEN)
    done = command("list", "envs", paths=[site])
    lines = [line for line in done.stderr.splitlines() if "PluginWarning" in line]
    assert len(lines) == 4 and "\x1b" not in done.stderr
    assert any("SystemExit: 3" in line for line in lines) and any("Own: [31mred" in line for line in lines)
    assert all("broken_pack 0.3" in line for line in lines)
    assert any("absent_module" in line for line in lines) and any("must be a GameSpec" in line for line in lines)
    assert "Overcooked-v0" in done.stdout and "Relay-v0" in done.stdout and "Absent-v0" not in done.stdout
    assert "is a policy of this package" in command("list", "policies", paths=[site]).stderr
    assert "must be a MetricSet" in command("list", "metrics", paths=[site]).stderr


@pytest.mark.nightly
def test_worker_processes_do_not_repeat_the_warnings(site, tmp_path):
    install(site, "broken_pack", "0.3", BROKEN)
    texts = [
        "--team",
        "all=taker",
        "--set",
        "max_cycles=2",
        "--episodes",
        "3",
        "--workers",
        "2",
        "--out",
        tmp_path / "run",
    ]
    done = command("evaluate", "relay", *texts, paths=[site])
    assert done.stderr.count("absent_module:") <= 1 and done.stderr.count("Absent-v0") == 1


@pytest.mark.nightly
def test_two_packages_with_a_game_of_one_name_are_told_apart(site):
    install(site, "second_pack", "2.0", "[collab_overcooked.games]\nRelay-v0 = relay_pack:METRICS\n")
    done = command("list", "envs", paths=[site])
    assert "second_pack 2.0 cannot be used" in done.stderr
    assert "relay_pack 1.2 has a plug-in of the same name" in done.stderr
    assert done.stdout.count("Relay-v0") == 1


# ------------------------------------------------------------------------------------------- --import

OWN = """from collab_overcooked.metrics.registry import Metric, register_metric
from collab_overcooked.policies.registry import register_policy
from relay_pack import Taker

register_policy("own", Taker, summary="Somebody's own.")
register_metric(Metric("own_steps", "Steps."), lambda record: record.timesteps)
"""


@pytest.fixture
def desk(tmp_path):
    """Return a folder with files that are not installed, and no distribution."""
    folder = tmp_path / "desk"
    folder.mkdir()
    shutil.copy(ROOT / "docs" / "examples" / "relay.py", folder)
    (folder / "relay_pack.py").write_text(PACK, "utf-8")
    (folder / "own.py").write_text(OWN, "utf-8")
    return folder


@pytest.mark.slow
def test_import_brings_games_policies_and_metrics_from_files_in_workers_too(desk):
    imports = ["--import", "relay.py", "--import=own.py"]
    texts = ["--team", "all=own:every=3", "--set", "max_cycles=3", "--episodes", "3", "--workers", "2", "--out", "run"]
    command("evaluate", "relay", *texts, *imports, folder=desk)
    named = config_of(desk / "run")["plugins"]
    assert set(named) == {"relay", "own"} and all(digest.startswith("sha256:") for digest in named.values())
    scored = command(*imports, "score", "run", "--metrics", "own_steps", "--format", "csv", folder=desk)
    assert scored.stdout.splitlines()[-1].endswith(",3.0,3.0,3.0")
    assert "Somebody's own." in command("list", "policies", *imports, folder=desk).stdout
    assert "Relay-v0" in command("list", "envs", "--import", "relay", folder=desk, paths=[desk]).stdout  # a module
    (desk / "own.py").write_text(OWN + "# edited\n", "utf-8")
    again = command("evaluate", "relay", *texts, *imports, folder=desk, fails=True)
    assert "own, which has changed since" in again.stderr


@pytest.mark.nightly
def test_cross_play_names_its_plug_ins(desk):
    texts = ["--pool", "own", "random", "--env", "Relay-v0", "--episodes", "1", "--workers", "1", "--out", "pool"]
    command("crossplay", *texts, "--import", "relay.py", "--import", "own.py", folder=desk)
    result = json.loads((desk / "pool" / "crossplay.json").read_text("utf-8"))
    assert set(result["plugins"]) == {"relay", "own"}


@pytest.mark.nightly
@pytest.mark.skipif(not find_spec("ray"), reason="the extra 'ray' is not installed")
def test_import_reaches_ray_workers(desk):
    imports = ["--import", "relay.py", "--import", "own.py"]
    texts = [
        "--team",
        "all=own:every=3",
        "--set",
        "max_cycles=3",
        "--episodes",
        "2",
        "--workers",
        "ray",
        "--out",
        "run",
    ]
    command("evaluate", "relay", *texts, *imports, folder=desk)
    assert len((desk / "run" / "records.jsonl").read_text("utf-8").splitlines()) == 2
    pool = ["--pool", "own", "random", "--env", "Relay-v0", "--episodes", "1", "--workers", "ray", "--out", "pool"]
    command("crossplay", *pool, *imports, folder=desk)
    assert (desk / "pool" / "crossplay.json").exists()


def test_teachers_of_plug_in_games_are_known(monkeypatch):
    from collab_overcooked import registry
    from collab_overcooked.game_spec import TeacherEntry
    from collab_overcooked.runner.teaching import kind_of_teacher

    elder = TeacherEntry("x:y", "scripted", "")
    record = dataclasses.replace(registry.GAMES[0], id="Taught-v0", teachers={"elder": elder})
    monkeypatch.setattr(registry, "GAMES", [*registry.GAMES, record])
    assert kind_of_teacher("teacher_group:elder") == "scripted"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (["--import", "absent.py"], "cannot import 'absent.py': no such file"),
        (["--import", "absent_module"], "cannot import 'absent_module': ModuleNotFoundError"),
        (["--import", "relay"], "for a file write relay.py"),
        (["--import", "random.py"], "another module is called 'random'; rename the file"),
        (["--import", "broken.py"], "cannot import 'broken.py': ZeroDivisionError: division by zero"),
        (["--import"], "Parameter --import requires an argument"),
        (["--import", "--team"], "--import requires an argument"),
    ],
)
def test_what_cannot_be_imported_ends_in_one_line(desk, text, message):
    (desk / "random.py").write_text("", "utf-8")
    (desk / "broken.py").write_text("1 / 0", "utf-8")
    done = python("-P", "-m", "collab_overcooked", "list", "envs", *text, folder=desk, fails=True)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert message in done.stderr


# ------------------------------------------------------------------------------------------- specs that name a class


@pytest.mark.slow
def test_a_team_names_classes_of_files_and_modules(desk):
    folder = desk / "package"
    folder.mkdir()
    (folder / "__init__.py").write_text("", "utf-8")
    shutil.copy(desk / "relay_pack.py", folder / "policies.py")
    team = ["--team", "agent_0=relay_pack.py:Taker", "agent_1=package.policies:Taker:every=2"]
    texts = [
        *team,
        "--set",
        "max_cycles=3",
        "--episodes",
        "3",
        "--workers",
        "2",
        "--out",
        "run",
        "--import",
        "relay.py",
    ]
    command("evaluate", "relay", *texts, folder=desk, paths=[desk])
    records = [json.loads(line) for line in (desk / "run" / "records.jsonl").read_text("utf-8").splitlines()]
    assert len(records) == 3 and {tuple(record["team"].values()) for record in records} == {
        ("relay_pack.py:Taker", "package.policies:Taker:every=2")
    }
    assert set(config_of(desk / "run")["plugins"]) == {"relay", "relay_pack", "package.policies"}
    (desk / "relay_pack.py").write_text(PACK + "# edited\n", "utf-8")
    refused = command("evaluate", "relay", *texts, folder=desk, paths=[desk], fails=True)
    assert "which has changed since" in refused.stderr


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("outside_file.py", "policy 'outside_file.py' needs a class, as in 'outside_file.py:MyPolicy'"),
        ("outside_file.py:Takr", "unknown policy class 'Takr'; did you mean Taker"),
        ("outside_file.py:Taker:evry=2", "unknown parameter of policy taker 'evry'; did you mean every"),
        ("outside_file.py:Taker:every=0", "every must be an integer of at least 1"),
        ("absent_file.py:Taker", "cannot import 'absent_file.py': no such file"),
        ("json.absent:Taker", "cannot import 'json.absent': ModuleNotFoundError"),
        ("outside_file.py:Odd", "unknown kind of policy 'language'"),
    ],
)
def test_specs_of_absent_classes_are_refused(tmp_path, monkeypatch, spec, message):
    from collab_overcooked.policies.specs import PolicySpec, make_policy

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "outside_file", raising=False)
    (tmp_path / "outside_file.py").write_text(PACK + "\n\nclass Odd(Taker):\n    kind = 'language'\n", "utf-8")
    assert make_policy("outside_file.py:Taker:every=4").every == 4
    assert make_policy("outside_file.py:Taker").name == "outside_file.py:Taker"
    assert PolicySpec.parse("outside_file.py:Taker").kind == "scripted"
    with pytest.raises(ValueError, match=message):
        make_policy(spec)
