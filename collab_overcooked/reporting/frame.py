"""Records as a pandas DataFrame with a row for each seat of each episode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.io.files import check_distinct_files
from collab_overcooked.metrics.registry import measure, tabulated
from collab_overcooked.policies.specs import PolicySpec
from collab_overcooked.reporting.sample_sizes import end_of
from collab_overcooked.runner.env_variants import variant_of
from collab_overcooked.runner.records import RECORDS, about, read_packed
from collab_overcooked.runner.teams import team_text

if TYPE_CHECKING:
    from pandas import DataFrame


def frame(*played: str | Path | Iterable[EpisodeRecord]) -> DataFrame:
    """Return records in long form, as ``groupby``, seaborn and statsmodels read them.

    Args:
        *played: Run folders, record files, or records, such as those that ``evaluate`` returns; of any games.

    Returns:
        A row for each seat of each episode. ``run`` is the folder, empty for records in memory; ``variant`` names the
        game and its options that differ from their defaults, as results do; ``cut_short`` says why an episode ended
        early. Metrics follow: those of the seat, or of the whole episode. A metric that a game does not have is NaN.

    Raises:
        ImportError: If pandas is not installed.
        ValueError: For a damaged record, a policy that is unknown or whose code only the record names, and a run or
            record that is given twice; the message names it.
    """
    try:
        import pandas
    except ImportError:
        raise ImportError("frame needs pandas: pip install pandas") from None
    check_distinct_files("frame", (path for path in played if isinstance(path, (str, Path))), within=RECORDS)
    in_memory = [source for source in played if not isinstance(source, (str, Path))]
    _check_distinct([*in_memory, *(record for source in in_memory if isinstance(source, list) for record in source)])
    rows: list[dict[str, Any]] = []
    for source in played:
        read = isinstance(source, (str, Path))
        records: Iterable[EpisodeRecord] = read_packed(Path(source)) if isinstance(source, (str, Path)) else source
        rows += (row for record in records for row in _rows(record, str(source) if read else ""))
    table = pandas.DataFrame(rows)
    return table.assign(**{name: table[name].astype(float) for name in table if table[name].dtype == object})


def _check_distinct(given: Sequence[Any]) -> None:
    if len(set(map(id, given))) < len(given):
        raise ValueError("frame: a record, or a list of records, is given twice; name it once, as it would count twice")


def _rows(record: EpisodeRecord, run: str) -> Iterator[dict[str, Any]]:
    with about(record):
        values = measure(record, tabulated(record))
        episode = {
            "run": run,
            "suite": registry.suite_of(record).name,
            "game": record.env_id,
            "variant": variant_of(record).title,
            "task": record.task,
            "level": record.level,
            "episode": record.episode,
            "seed": record.seed,
            "team": team_text(record.specs),
            "cut_short": end_of(record),
        }
    for seat, (agent, spec) in enumerate(record.team.items()):
        numbers = {name: value[seat] if isinstance(value, list) else value for name, value in values.items()}
        numbers = {name: value for name, value in numbers.items() if value is None or isinstance(value, (int, float))}
        yield episode | {"agent": agent, "policy": spec, "kind": PolicySpec.parse(spec).kind} | numbers
