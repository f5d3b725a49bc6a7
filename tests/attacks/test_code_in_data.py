"""Code that only a file names: whoever reads records, comparisons, studies and pools runs none of it and says so."""

from __future__ import annotations

import json
import pickle
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from attacks.records import write_records
from study.world import QUICK
from support.cli_runner import CliRunner

from collab_overcooked.adapters.results import plan_for_client
from collab_overcooked.cli import app
from collab_overcooked.evaluation.compare.plan import PLAN, ComparisonPlan, Entry, read_plan
from collab_overcooked.evaluation.partner_batch import PartnerBatch
from collab_overcooked.evaluation.partner_pool import read_partner_pool
from collab_overcooked.io.files import file_digest
from collab_overcooked.policies.llm.transport import check_address
from collab_overcooked.policies.specs import PolicySpec, make_known_policy, make_policy
from collab_overcooked.registry import load_game, load_suite
from collab_overcooked.reporting.frame import frame
from collab_overcooked.study.journal import Journal
from collab_overcooked.study.reader import read_study
from collab_overcooked.study.results import StudyResults

pytestmark = pytest.mark.attacks

NAME = "planted_by_data"
CODE = """
from pathlib import Path
Path("ran").touch()
from collab_overcooked.policies.random import RandomPolicy as Partner
class Net: pass
"""
FILE = f"{NAME}.py:Partner"
SPECS = (
    *(FILE, f"{NAME}_package.inner:Partner", f"slow:3:{FILE}", f"late:2:slow:3:{FILE}", f"switch:5:greedy+{FILE}"),
    *(f"torch:{NAME}.py:Net@{NAME}.pt", f"sb3:{NAME}.zip", f"{NAME}.zip", f"forgetful:0.1:sb3:{NAME}.zip"),
)


class Bomb:
    """Touches a file when it is read from a pickle."""

    def __reduce__(self) -> Any:
        return Path.touch, (Path("ran"),)


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A folder with code of all kinds that a spec can name, which is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / f"{NAME}.py").write_text(CODE)
    (tmp_path / f"{NAME}_package").mkdir()
    (tmp_path / f"{NAME}_package" / "__init__.py").write_text(CODE)
    (tmp_path / f"{NAME}_package" / "inner.py").write_text(CODE)
    (tmp_path / f"{NAME}.pt").write_bytes(b"weights")
    with zipfile.ZipFile(tmp_path / f"{NAME}.zip", "w") as archive:
        archive.writestr("data", json.dumps({"x": {":serialized:": pickle.dumps(Bomb()).hex()}}))
        archive.writestr("policy.pth", pickle.dumps(Bomb()))
    return tmp_path


def write_run(donors: Any, folder: Path, spec: str) -> Path:
    team = dict.fromkeys(donors["rush"]["team"], spec)
    return write_records(folder, [donors["rush"] | {"team": team}])


def write_comparison(donors: Any, folder: Path, spec: str) -> Path:
    setting = load_suite("rush").benchmark("small").settings[0]
    ComparisonPlan(("rush",), ("random",), entries=(Entry("rush", setting.name, ("random",) * 2, "own"),)).write(folder)
    plan = json.loads((folder / PLAN).read_text().replace('"random"', json.dumps(spec)))
    (folder / PLAN).write_text(json.dumps(plan))
    write_run(donors, folder / "own", spec)
    return folder


def write_pool(folder: Path, spec: str, sha256: str = "") -> Path:
    partner = {"name": "one", "policy": spec, "family": "scripted"} | ({"sha256": sha256} if sha256 else {})
    pool = {"env": "Overcooked-v0", "options": {"layout": "cramped_room"}, "partners": [partner]}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pool.yaml").write_text(yaml.safe_dump(pool))
    return folder / "pool.yaml"


def write_study(folder: Path, spec: str) -> Path:
    path = folder / "planted.yaml"
    path.write_text(yaml.safe_dump(QUICK | {"partners": {"mate": spec}}))
    return path


def run(*words: str | Path) -> Any:
    return CliRunner(env={"COLUMNS": "300"}).invoke(app, list(map(str, words)), catch_exceptions=False)


@pytest.mark.parametrize("spec", [FILE, *(pytest.param(spec, marks=pytest.mark.nightly) for spec in SPECS[1:])])
def test_readers_run_no_code_that_their_files_name(spec, planted, donors):
    runs = [write_run(donors, planted / name, spec) for name in ("one", "other")]
    comparison = write_comparison(donors, planted / "compared", spec)
    pool, study = write_pool(planted / "pools", spec), write_study(planted, spec)
    (pool.parent / f"{NAME}.py").write_text(CODE)
    journal = planted / "journal"
    with Journal.open(journal, read_study(QUICK)):
        pass
    (journal / "config.json").write_text((journal / "config.json").read_text().replace('"greedy"', json.dumps(spec)))
    for words in (
        ("score", *runs),
        ("report", runs[0]),
        ("score", "--compare", *runs),
        ("significance", *runs),
        ("significance", comparison),
        ("significance", journal),
        ("compare", "--report-only", comparison),
        ("replay", runs[0], "--check"),
        ("export", "npz", runs[0], "--out", planted / "dataset"),
        ("check", study),
        ("describe", study),
        ("describe", pool),
        ("study", "rehearse", study, "1"),
        ("study", "run", study, "--preview", "--port", "99999"),
        *(("partners", verb, pool) for verb in ("show", "check")),
        ("partners", "play", pool, "one"),
        ("partners", "score", "--pool", pool, "--ego", "greedy", "--episodes", "1", "--out", planted / "scores"),
        ("train", "ego", "Overcooked-v0", "--pool", pool, "--steps", "100", "--out", planted / "ego"),
    ):
        run(*words)
        assert not (planted / "ran").exists(), words
    with suppress(ValueError):
        frame(*runs)
    with suppress(ValueError):
        StudyResults.read(journal).samples(())
    with suppress(ValueError):
        PartnerBatch(load_game("Overcooked-v0", layout="cramped_room"), 1, [f"{pool}#one"])
    assert not (planted / "ran").exists()


@pytest.mark.parametrize("spec", SPECS)
def test_code_of_a_file_is_reported_as_unknown_with_what_to_write(spec, planted, donors):
    readers: dict[str, Callable[[], Any]] = {
        "policy": lambda: make_known_policy(spec),
        "check": lambda: PolicySpec.parse(spec).check(),
        "pool": lambda: read_partner_pool(write_pool(planted, spec)),
        "comparison": lambda: read_plan(write_comparison(donors, planted / "compared", spec)),
        "study": lambda: read_study(write_study(planted, spec)),
    }
    for name, read in readers.items():
        with pytest.raises(ValueError, match=rf"unknown policy of .*{NAME}.*--import .*import_plugin") as refused:
            read()
        assert len(str(refused.value).splitlines()) == 1, name
    done = run("partners", "check", write_pool(planted, spec))
    assert done.exit_code == 2 and "--import" in done.stderr and not (planted / "ran").exists()


def test_a_frame_of_records_says_which_module_to_import(planted, donors):
    folder = write_run(donors, planted / "one", FILE)
    with pytest.raises(ValueError, match=rf"unknown policy of '{NAME}\.py'.*--import {NAME}\.py"):
        frame(folder)


def test_modules_that_are_loaded_already_are_no_policies_of_data():
    for spec in ("os.path:exists", "collab_overcooked.policies.random:RandomPolicy", "importlib.util:find_spec"):
        with pytest.raises(ValueError, match="unknown policy of"):
            make_known_policy(spec)


def test_a_command_line_may_name_the_code_of_a_file(planted, monkeypatch):
    for folder in (planted, planted / "pools"):
        folder.mkdir(exist_ok=True)
        name = f"named_{folder.name}".replace("-", "_")
        (folder / f"{name}.py").write_text("from collab_overcooked.policies.random import RandomPolicy as Partner\n")
        path = write_pool(folder, f"{name}.py:Partner")
        assert run("partners", "check", path).exit_code == 2
        done = run("partners", "check", path, "--import", folder / f"{name}.py")
        assert done.exit_code == 0, done.output
    assert make_policy(FILE).name == FILE and (planted / "ran").exists()


def test_paths_of_a_pool_start_from_its_file(planted):
    folder = planted / "pools"
    (folder / "parts").mkdir(parents=True)
    with zipfile.ZipFile(folder / "parts" / "sb3.zip", "w") as archive:
        archive.writestr("data", "{}")
    for text, resolved in (
        ("sb3:parts/sb3.zip", f"sb3:{folder}/parts/sb3.zip"),
        ("ppo:p.npz,sample", f"ppo:{folder}/p.npz,sample"),
        ("p.npz", f"{folder}/p.npz"),
        ("torch:net.py:Net@net.pt,greedy", f"torch:{folder}/net.py:Net@{folder}/net.pt,greedy"),
        ("torch:package.nets:Net@s.pt", f"torch:package.nets:Net@{folder}/s.pt"),
        ("parts/own.py:Own:width=2", f"{folder}/parts/own.py:Own:width=2"),
        ("package.own:Own", "package.own:Own"),
        ("switch:9:own.py:Own+sb3:s", f"switch:9:{folder}/own.py:Own+sb3:{folder}/s"),
        ("llm:agent.yaml?memory=2", f"llm:{folder}/agent.yaml?memory=2"),
        (
            "llm:m?prompts=mine,agent=choose,local=m.gguf",
            f"llm:m?prompts={folder}/mine,agent=choose,local={folder}/m.gguf",
        ),
        ("llm:m?agent=choose", "llm:m?agent=choose"),
        ("greedy", "greedy"),
    ):
        assert PolicySpec.parse(text).resolve(folder).text == resolved
    (folder / f"{NAME}_beside.py").write_text("raise SystemExit\n")
    path = write_pool(folder, "sb3:parts/sb3.zip", file_digest(folder / "parts" / "sb3.zip"))
    done = run("partners", "show", path, "--import", folder / "parts" / "sb3.zip")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("team", "options"),
    [
        ("agent_0=llm:x?agent=choose agent_1=FILE.py:Policy", {}),
        ("agent_0=llm:x?agent=choose agent_1=slow:2:FILE.py:Policy", {}),
        ("agent_0=llm:x?agent=choose agent_1=ppo:FILE.npz", {}),
        ("agent_0=llm:x?agent=choose agent_1=sb3:FILE", {}),
        ("agent_0=llm:FILE.yaml all=greedy", {}),
        ("agent_0=llm:x?agent=choose,prompts=FILE all=greedy", {}),
        ("agent_0=llm:x?local=FILE all=greedy", {}),
        *(("all=llm:x?agent=choose", {"layouts": f"FILE.{ending}"}) for ending in ("yaml", "layout")),
        ("all=llm:x?agent=choose", {"layouts": ["FILE.yaml"]}),
        ("all=llm:x?agent=choose", {"layouts": "cramped_room", "options": {"lexicon": "FILE.yaml"}}),
        ("all=llm:x?agent=choose", {"layouts": "cramped_room", "records": "FILE"}),
    ],
)
def test_clients_of_a_server_name_none_of_its_files(team, options, tmp_path):
    for ending in ("", ".py", ".npz", ".yaml", ".layout"):
        (tmp_path / f"f{ending}").write_text("secret: 12345\n")
    filled = json.loads(json.dumps(options).replace("FILE", str(tmp_path / "f")))
    with pytest.raises(ValueError) as refused:
        plan_for_client("overcooked", team.replace("FILE", str(tmp_path / "f")), filled)
    assert "12345" not in str(refused.value) and "secret" not in str(refused.value)
    missing = json.loads(json.dumps(options).replace("FILE", str(tmp_path / "missing")))
    with pytest.raises(ValueError) as absent:
        plan_for_client("overcooked", team.replace("FILE", str(tmp_path / "missing")), missing)
    assert str(absent.value).replace("missing", "f") == str(refused.value), "it says which files there are"


def test_clients_of_a_server_play_what_the_package_ships():
    plan = plan_for_client(
        "overcooked", "agent_0=llm:x?agent=choose agent_1=ppo:cramped_room", {"layouts": "cramped_room"}
    )
    assert plan.n_episodes == 2


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:x@evil.com/v1",
        "http://127.0.0.1:80@evil.com/v1",
        "http://localhost@evil.com",
        "http://127.0.0.1\\@evil.com/v1",
        "http://evil.com\\.localhost/v1",
        "http://127.0.0.1%40evil.com/v1",
        "http://127.0.0.1:80:90/v1",
        "http://127.0.0.1\t.evil.com/v1",
        "http://127.0.0.1 .evil.com/v1",
        "http://127.0.0.1\n@evil.com/v1",
        "http://①②⑦.0.0.1/v1",
        "http://[::1]x/v1",
        "http://:80/v1",
        "http://host:99999/v1",
    ],
)
def test_an_address_has_one_host_for_every_reader(address):
    with pytest.raises(ValueError, match="base-url must"):
        check_address(address)
    with pytest.raises(ValueError, match="base-url must"):
        make_known_policy(f"llm:m?base_url={address}")


def test_a_page_is_served_under_its_own_host_name_only():
    from collab_overcooked.play.server import LOOPBACK, Guard

    guard = Guard(None, LOOPBACK)

    def allowed(*hosts: str) -> bool:
        headers = [(b"host", host.encode("latin-1")) for host in hosts]
        return guard._allowed({"type": "http", "method": "GET", "headers": headers})

    for host in ("127.0.0.1", "127.0.0.1:8000", "LOCALHOST:1", "[::1]", "[::1]:80"):
        assert allowed(host), host
    for host in (
        *("127.0.0.1:x@evil.com", "127.0.0.1:80@evil.com", "localhost:", "localhost:80:evil.com", "evil.com", ""),
        *("[::1]:evil.com", "[::1].evil.com", "127.0.0.1:٣", "localhost:123456", "127.0.0.1:80/@evil.com"),
    ):
        with suppress(UnicodeEncodeError):
            assert not allowed(host), host
    assert not allowed() and not allowed("localhost", "evil.com") and not allowed("evil.com", "localhost")
