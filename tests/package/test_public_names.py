"""The names at the top level: lazy, documented with an example each."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import collab_overcooked
from collab_overcooked.core.limits import Limits
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.reporting.result_table import Column, ResultTable

API = Path(__file__).resolve().parents[2] / "docs" / "reference" / "api.md"
NAMES = [name for name in collab_overcooked.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example_that_runs(name):
    blocks = re.findall(r"(<!-- [^\n]* -->\n)?```python\n(.*?)^```$", API.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    code = "".join(body for note, body in blocks if "not run" not in note)
    assert re.search(rf"\bco\.{name}\b", code)
    assert getattr(collab_overcooked, name).__doc__


def test_only_public_names_are_listed():
    assert dir(collab_overcooked) == sorted(collab_overcooked.__all__)
    assert not {"register_everywhere", "errors", "game_spec"} & set(dir(collab_overcooked))
    with pytest.raises(AttributeError, match="has no attribute 'evalute'"):
        getattr(collab_overcooked, "evalute")  # noqa: B009  misspelt on purpose


def test_names_are_imported_when_they_are_used():
    code = (
        "import sys, collab_overcooked as co\n"
        "before = {name for name in sys.modules if name.startswith('collab_overcooked.')}\n"
        "heavy = ('polic', 'evaluation', 'runner', 'metrics', 'testing')\n"
        "assert not [name for name in before if any(part in name for part in heavy)]\n"
        "co.make_policy\n"
        "assert 'collab_overcooked.policies.registry' in sys.modules\n"
        "assert 'collab_overcooked.evaluation.run' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_tables_become_data_frames():
    pandas = pytest.importorskip("pandas")
    columns = (Column("Team"), Column("score", "estimate"), Column("n", "number"))
    frame = ResultTable(columns, (("a", Estimate(1.5, 1.0, 2.0), 4), ("b", None, 0))).to_pandas()
    assert list(frame.columns) == ["Team", "score", "score_low", "score_high", "n"]
    assert frame.loc[0].tolist() == ["a", 1.5, 1.0, 2.0, 4]
    assert pandas.isna(frame.loc[1, "score"])


def test_without_pandas_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        ResultTable((Column("Team"),), ()).to_pandas()


@pytest.mark.parametrize(
    ("name", "value"), [("episodes", 2), ("team", "all=greedy"), ("seed", 0), ("options", {}), ("limits", Limits())]
)
def test_options_of_a_suite_belong_to_its_name(tmp_path, name, value):
    plan = plan_evaluation("rush", ["all=random"])
    with pytest.raises(ValueError, match=f"{name}: options of a suite belong to its plan"):
        collab_overcooked.evaluate(plan, tmp_path / "run", **{name: value})
    assert not (tmp_path / "run").exists()
