"""Sample size of a study, by simulation from its rehearsal or pilot."""

from __future__ import annotations

from collections.abc import Sequence

from collab_overcooked.io.checks import near_matches
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.reporting.significance import factorial_design
from collab_overcooked.study.results import BOTS, StudyResults

CONDITION = "condition"
"""Factor of a study without factors; its levels are the conditions."""
NOTE = (
    "Each simulated study draws the deviations of observed units from the means of their cells, with replacement, and "
    "adds the effect, with levels between the first and the last of a factor halfway between them. Power is that of "
    "the F test over all levels, not of tests of pairs. False positives: the share that is significant without the "
    "effect. Where it is far above the level of significance, the pilot has too few units, or too skewed ones, for "
    "studies of that size, and their power means nothing. Bots answer and play at random: their deviations are no "
    "estimate of people's, a pilot's are."
)


def power_card(
    results: StudyResults,
    metric: str,
    effect: float,
    term: Sequence[str] | None = None,
    power: float = 0.8,
    *,
    alpha: float = 0.05,
    simulations: int = 500,
    seed: int = 0,
) -> Scorecard:
    """Return the number of units that a study needs.

    Args:
        results: Results of a rehearsal or a pilot.
        metric: Metric of the games, or question ``FORM.QUESTION``.
        effect: Smallest effect of interest, see ``FactorialDesign.power``.
        term: Factors of the effect; default: the first factor.
        power: Power to reach.
        alpha: Level of significance.
        simulations: Number of simulated studies of each size.
        seed: Random seed.

    Raises:
        ValueError: An argument is out of range, there is no such metric or term, or no size reaches the power.
    """
    for name, value in (("power", power), ("alpha", alpha)):
        if not 0 < value < 1:
            raise ValueError(f"{name} must be between 0 and 1, not {value:g}")
    if effect == 0:
        raise ValueError("effect must not be 0")
    samples, conditions = results.samples([metric]).get(metric, {}), results.journal.study.conditions
    levels = {name: dict(condition.levels) for name, condition in conditions.items()}
    if not any(levels.values()):
        levels = {name: {CONDITION: name} for name in conditions}
    design = factorial_design(samples, levels)
    if not design.terms:
        raise ValueError(f"{metric} has values in one condition only")
    tested = tuple(term or design.terms[0])
    if tested not in design.terms:
        raise ValueError(near_matches("term", ":".join(tested), [":".join(known) for known in design.terms]))
    if design.test(tested, design.tables) is None:
        raise ValueError(f"{metric} does not vary in these data")
    points = design.sample_size(tested, effect, power, alpha=alpha, simulations=simulations, seed=seed)
    needed = next(point for point in points if point.power >= power)
    group, cells = results.journal.study.group, len(design.cells)
    units = "participants" if group == 1 else "groups"
    size = f"{needed.units} {units}" if group == 1 else f"{needed.units} groups ({needed.units * group} people)"
    people = needed.units * cells * group
    total = f" per cell ({people} {'' if group == 1 else 'people '}in all)" if cells > 1 else ""
    columns = (
        Column(f"{units} per cell", "number", key="units"),
        Column("power", "number", 3),
        Column("false positives", "number", 3),
    )
    rows = []
    for point in points:
        by_chance = design.power(tested, 0.0, point.units, alpha=alpha, simulations=simulations, seed=seed)
        rows.append((point.units, point.power, by_chance))
    table = ResultTable(columns, tuple(rows))
    ends = {name: f"{known[0]} - {known[-1]}" for name, known in design.factors.items()}
    tests = " × ".join(f"{name} ({ends[name]})" for name in tested)
    title = f"{metric}: {size}{total} reach a power of {power:g} for {tests} = {effect:g}"
    if results.is_rehearsal:
        title += BOTS
    return Scorecard("power", title, (table,), notes=(*results.notes(), NOTE), data=table)
