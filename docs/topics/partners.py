"""Facts about agents beside partners that they never met, from the lines of ``benchmarks/partner_results.py``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

from msgspec import structs

from collab_overcooked import __version__
from collab_overcooked.evaluation.partner_pool import pool_names, read_partner_pool
from collab_overcooked.evaluation.partner_table import HEAT_MAP, PROFILE, Scores, read_scores
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.policies.policy_file import is_stand_in
from collab_overcooked.policies.specs import PolicySpec
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable

from .writing import RESULTS, code, table

NAMES = {
    "sp": "self-play",
    "sa": "state-augmented",
    "e3t": "E3T without prediction",
    "fcp": "FCP",
    "hsp": "HSP's pool",
    "fcp_gru": "FCP and itself, GRU",
    "fcp_clone": "FCP and itself, GRU, from a clone",
    "fcp_clone_alone": "FCP, GRU, from a clone",
    "clone": "the clone alone",
}
SHOWN = (
    "method",
    "seeds",
    "million steps",
    "games",
    "mean",
    "by partner",
    "lowest family",
    "return",
    "self-play",
    "other seeds",
)
HEADS = {
    "method": "ego",
    "mean": "mean share of families",
    "by partner": "of partners",
    "return": "mean return",
    "self-play": "with itself",
    "other seeds": "with other seeds",
}
ZSC_EVAL = {  # BR-Prox of Wang et al. (2024), figure of its largest pools; random0, random1 and random3 are its layouts
    "forced_coordination": {"sp": 0.85, "e3t": 0.83, "fcp": 0.86, "hsp": 0.81},
    "coordination_ring": {"sp": 0.27, "e3t": 0.60, "fcp": 0.69, "hsp": 0.66},
    "counter_circuit": {"sp": 0.09, "e3t": 0.51, "fcp": 0.59, "hsp": 0.55},
}
POOLS = tuple(name for name in pool_names() if (RESULTS / f"partners_{name}.jsonl").exists())


@cache
def scores(pool: str) -> Scores:
    """Return the committed results of a pool, with methods by their titles; programs are their own."""
    lines = read_scores([RESULTS / f"partners_{pool}.jsonl"])
    return Scores([structs.replace(line, method=NAMES.get(line.method, line.method)) for line in lines])


@cache
def whole_table(pool: str) -> ResultTable:
    """Return the table that ``partners table`` prints."""
    return scores(pool).table()


def results(pool: str) -> str:
    """Return the table of a pool without the columns that few ask for, the notes below it, and its pictures."""
    wide = whole_table(pool)
    families = dict.fromkeys(scores(pool).families.values())
    chosen = [i for i, column in enumerate(wide.columns) if column.name in SHOWN or column.name in families]
    columns = [replace(wide.columns[i], name=HEADS.get(wide.columns[i].name, wide.columns[i].name)) for i in chosen]
    columns.append(Column("higher than greedy", "estimate", 2))
    improvements = scores(pool).improvements()
    over_greedy = [column.name for column in improvements.columns].index("greedy")
    rows = [
        (*(row[i] for i in chosen), improvement[over_greedy])
        for row, improvement in zip(wide.rows, improvements.rows, strict=True)
    ]
    shown = ResultTable(tuple(columns), tuple(rows)).markdown()
    notes = "\n".join(f"- {note}" for note in scores(pool).notes())
    pictures = (
        f"![Share of the best response by method and partner](../pictures/{HEAT_MAP}_{pool}.svg)",
        f"![Share of partners with more than a share of the best response](../pictures/{PROFILE}_{pool}.svg)",
    )
    return "\n\n".join((shown, notes, *pictures))


def partner_summary() -> str:
    """Return the mean share and the lowest family of each method by pool."""
    cells: dict[str, dict[str, str]] = {}
    for pool in POOLS:
        wide = whole_table(pool)
        keys = {column.name: i for i, column in enumerate(wide.columns)}
        for row in wide.rows:
            mean, lowest = row[keys["mean"]], row[keys["lowest family"]]
            assert isinstance(mean, Estimate) and isinstance(lowest, Estimate)
            shown = f"{wide.columns[keys['mean']].text(mean)[0]} ({lowest.value:z.2f})"
            cells.setdefault(str(row[0]), {})[pool] = shown
    methods = [name for name in (*NAMES.values(), *cells) if name in cells]
    rows = [(name, *(cells[name].get(pool, "") for pool in POOLS)) for name in dict.fromkeys(methods)]
    return table(("ego", *map(_title, POOLS)), rows, range(1, 1 + len(POOLS)))


def _title(pool: str) -> str:
    """Return the name of a pool, with the version that measured it if it is another one."""
    older = sorted({line.version for line in scores(pool).lines} - {__version__})
    return code(pool) + (f" (version {', '.join(older)})" if older else "")


def beside_zsc_eval() -> str:
    """Return BR-Prox here, with its interval, and that of ZSC-Eval."""
    rows = []
    for pool in filter(ZSC_EVAL.get, POOLS):
        wide = whole_table(pool)
        (i,) = (i for i, column in enumerate(wide.columns) if column.name == "BR-Prox")
        published = {NAMES[method]: value for method, value in ZSC_EVAL[pool].items()}
        for row in wide.rows:
            if row[0] in published:
                here = "{} ({})".format(*wide.columns[i].text(row[i]))
                rows.append((_title(pool), str(row[0]), here, f"{published[str(row[0])]:.2f}"))
    return table(("layout", "ego", "BR-Prox here", "ZSC-Eval, its partners"), rows, (2, 3))


def _comes_from_greedy(spec: PolicySpec) -> bool:
    """Return whether a partner is ``greedy``, a wrapper of it, or a clone of its games."""
    if spec.players:
        return any(map(_comes_from_greedy, spec.players))
    return spec.name == "greedy" or (spec.name == "ppo" and is_stand_in(spec.parameters))


def _trained(ego: str) -> str:
    """Return the training of a best response, or its policy."""
    titles = NAMES | {"population": NAMES["sp"], "responses": "trained responses", "itself": "itself"}
    folder = ego.split("/")[0]
    return titles.get(folder, code(folder))


def best_responses() -> str:
    """Return how the best responses of the built-in pools were measured."""
    rows = []
    for name in pool_names():
        pool = read_partner_pool(name)
        partners = pool.partners
        tests = pool.select("test")
        derived = sum(_comes_from_greedy(PolicySpec.parse(partner.policy)) for partner in tests)
        best = [partner.best for partner in partners if partner.best]
        games = sorted({one.games for one in best})
        by = dict.fromkeys(_trained(one.by.removeprefix("ppo:")) for one in best)
        span = "" if not games else f"{games[0]}" + (f" to {games[-1]}" if len(games) > 1 else "")
        of_greedy = f"{derived} of {len(tests)}"
        versions = ", ".join(sorted({one.version or "1.0.0 or earlier" for one in best}))
        rows.append((code(name), len(partners), of_greedy, len(best), span, versions, "; ".join(by)))
    derived_head = "test partners derived from `greedy`"
    heads = ("pool", "partners", derived_head, "with best response", "games of each", "version", "best egos")
    return table(heads, rows, (1, 2, 3, 4))


def _fact(pool: str) -> Callable[[], str]:
    fact = partial(results, pool)
    fact.__name__ = f"partners_{pool}"  # type: ignore[attr-defined]
    return fact


WHY_FCP = {
    "fcp": "FCP",
    "gru": "FCP, GRU",
    "self": "FCP and itself",
    "gru_self": "FCP and itself, GRU",
    "cec": "cross-environment training",
}


def partners_why_fcp() -> str:
    """Return what egos trained in other ways earn beside unseen self-play partners and with their other seeds."""
    heads = HEADS | {"worst tenth": "worst tenth", "selfplay": "unseen self-play"}
    rows: list[tuple[Cell, ...]] = []
    columns: list[Column] = []
    for name in ("why_fcp", "cec"):
        wide = Scores(read_scores([RESULTS / f"partners_{name}.jsonl"])).table()
        position = {column.name: i for i, column in enumerate(wide.columns)}
        chosen = [position[head] for head in heads if head in position and head != "lowest family"]
        columns = [replace(wide.columns[i], name=heads[wide.columns[i].name]) for i in chosen]
        rows += [(WHY_FCP[str(row[0])], *(row[i] for i in chosen[1:])) for row in wide.rows]
    return ResultTable(tuple(columns), tuple(rows)).markdown()


FACTS = (partner_summary, partners_why_fcp, beside_zsc_eval, best_responses, *map(_fact, POOLS))
