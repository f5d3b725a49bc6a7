"""Wheel and sdist: they build, install into a clean environment and carry what they should."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from support.covers import first

ROOT = Path(__file__).resolve().parents[2]
EPISODE = """
import json, collab_overcooked
env = collab_overcooked.make("Overcooked-v0", max_cycles=20, render_mode="rgb_array")
observations, infos = env.reset(seed=0)
steps = 0
while env.agents:
    env.step({agent: env.action_space(agent).sample(infos[agent]["action_mask"]) for agent in env.agents})
    steps += 1
print(json.dumps([collab_overcooked.__file__, steps, env.render().shape[2]]))
"""
SHIPPED = (
    "py.typed",
    "cli/new_game.txt",
    "study/page/study_form.html",
    "layouts/overcooked/cramped_room.yaml",
    "layouts/collab_overcooked/paper.yaml",
    "policies/weights/cramped_room.npz",
    "baselines/configs/cramped_room.yaml",
    "games/collab_overcooked/text/prompts/rules.j2",
    "reporting/page/report.css",
    "reporting/page/report.js",
    "render/sprites.yaml",
)

pytestmark = pytest.mark.slow


PLANTED = (
    "keys.env",
    "my_study.yaml",
    "deploy/keys.env",
    "deploy/study.yaml",
    "deploy/study/people.csv",
    "docs/keys.env",
)
SECRET = "9" * 40


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A clone with the files of this tree, in which somebody runs a study with keys of language models."""
    folder = tmp_path_factory.mktemp("clone") / "tree"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in listed.stdout.decode().strip("\0").split("\0"):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    for name in (*PLANTED, "collab_overcooked/keys.env"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"OPENAI_API_KEY={SECRET}\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory, checkout: Path) -> Path:
    """Folder with wheel and sdist of the checkout."""
    folder = tmp_path_factory.mktemp("dist")
    backend = folder / "backend"
    run("-m", "pip", "install", "--quiet", "--target", str(backend), "hatchling>=1.27")
    for kind in ("wheel", "sdist"):
        code = f"import hatchling.build as backend; backend.build_{kind}({str(folder)!r})"
        run("-c", code, cwd=checkout, PYTHONPATH=str(backend))
    return folder


def run(*arguments: str, python: Path | str = sys.executable, cwd: Path = ROOT, **variables: str) -> str:
    done = subprocess.run(
        [str(python), *arguments], cwd=cwd, capture_output=True, text=True, env={**os.environ, **variables}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_carries_the_package_and_nothing_else(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"collab_overcooked"}
    missing = {f"collab_overcooked/{name}" for name in SHIPPED} - set(names)
    assert not missing
    assert not [name for name in names if "/tests/" in name or "parity/" in name or name.endswith(".pyc")]


def test_the_sdist_carries_what_its_tests_need(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    kept = (
        "README.md",
        "LICENSE",
        "SECURITY.md",
        "CITATION.cff",
        "CONTRIBUTING.md",
        "Makefile",
        "tests/conftest.py",
        "parity/run.py",
    )
    assert names.issuperset(kept)


def test_nothing_that_a_user_keeps_in_a_checkout_is_packed_or_committed(built, checkout):
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist, zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = {name.partition("/")[2] for name in sdist.getnames()} | set(wheel.namelist())
        files = [member for member in sdist.getmembers() if member.isfile() and member.size < 10_000]
        texts = {member.name: sdist.extractfile(member).read() for member in files}
    assert not names & {*PLANTED, "collab_overcooked/keys.env"}
    assert not [name for name, text in texts.items() if SECRET.encode() in text]
    private = [name for name in PLANTED if name.startswith("deploy/") or name.endswith(".env")]
    ignored = subprocess.run(["git", "check-ignore", *private], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ignored.stdout.split() == private


@pytest.mark.parametrize("kind", first(["*.whl", "*.tar.gz"]))
def test_it_installs_into_a_clean_environment_and_plays(built, tmp_path, kind):
    (archive,) = built.glob(kind)
    venv.create(tmp_path / "clean", with_pip=True)
    python = tmp_path / "clean" / "bin" / "python"
    # Dependencies are those of this environment: what is tested is the package, not the registry.
    others = os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))
    backend = str(built / "backend")
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
    run("-m", "pip", "install", *offline, str(archive), python=python, PYTHONPATH=backend)
    listed = run("-m", "collab_overcooked", "list", "envs", python=python, PYTHONPATH=others, PYTHONSAFEPATH="1")
    assert "Overcooked-v0" in listed
    played = run("-c", EPISODE, python=python, PYTHONPATH=others, PYTHONSAFEPATH="1", NUMBA_DISABLE_JIT="1")
    path, steps, channels = json.loads(played)
    assert (steps, channels) == (20, 3)
    assert Path(path).is_relative_to(tmp_path)
