"""Sample size of a study, by simulation from its rehearsal or pilot."""

from __future__ import annotations

from collections.abc import Sequence

from collab_overcooked.io.checks import near_matches
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.reporting.significance import Samples, factorial_design
from collab_overcooked.study.results import PERSON_UNIT, StudyResults

CONDITION = "condition"
"""Factor of a study without factors; its levels are the conditions."""
NOTE = (
    "Each simulated study draws the deviations of observed units from the means of their cells, with replacement, and "
    "adds the effect. Bots answer and play at random: their deviations are no estimate of people's, a pilot's are."
)


def observed_samples(results: StudyResults, measure: str) -> Samples:
    """Return the observed values of a measure, by condition and unit.

    Args:
        results: Results of a rehearsal or a pilot.
        measure: Metric of the games, or question ``FORM.QUESTION``.

    Raises:
        ValueError: There is no such measure.
    """
    known = results.samples([])
    samples = known if measure in known or "." in measure else results.samples([measure])
    if measure not in samples:
        raise ValueError(near_matches("measure", measure, known))
    return samples[measure]


def power_card(
    results: StudyResults,
    measure: str,
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
        measure: Metric of the games, or question ``FORM.QUESTION``.
        effect: Smallest effect of interest, see ``FactorialDesign.power``.
        term: Factors of the effect; default: the first factor.
        power: Power to reach.
        alpha: Level of significance.
        simulations: Number of simulated studies of each size.
        seed: Random seed.

    Raises:
        ValueError: An argument is out of range, there is no such measure or term, or no size reaches the power.
    """
    for name, value in (("power", power), ("alpha", alpha)):
        if not 0 < value < 1:
            raise ValueError(f"{name} must be between 0 and 1, not {value:g}")
    if effect == 0:
        raise ValueError("effect must not be 0")
    samples, conditions = observed_samples(results, measure), results.journal.study.conditions
    levels = {name: dict(condition.levels) for name, condition in conditions.items()}
    if not any(levels.values()):
        levels = {name: {CONDITION: name} for name in conditions}
    design = factorial_design(samples, levels)
    tested = tuple(term or design.terms[0])
    if tested not in design.terms:
        raise ValueError(near_matches("term", ":".join(tested), [":".join(known) for known in design.terms]))
    if design.test(tested, design.tables) is None:
        raise ValueError(f"{measure} does not vary in these data")
    points = design.sample_size(tested, effect, power, alpha=alpha, simulations=simulations, seed=seed)
    needed = next(point for point in points if point.power >= power)
    of_people = any(unit[0] == PERSON_UNIT for values in samples.values() for unit in values)
    group = 1 if of_people else results.journal.study.group
    units, cells = "participants" if group == 1 else f"groups of {group}", len(design.cells)
    total = f" per cell ({needed.units * cells} in all)" if cells > 1 else ""
    columns = (Column("units per cell", "number", key="units"), Column("power", "number", 3))
    table = ResultTable(columns, tuple((point.units, point.power) for point in points))
    tests = f"{':'.join(tested)} = {effect:g}"
    title = f"{measure}: {needed.units} {units}{total} reach a power of {power:g} for {tests}"
    return Scorecard("power", title, (table,), notes=(NOTE,), data=table)
