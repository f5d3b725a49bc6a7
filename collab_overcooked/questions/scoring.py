"""Accuracy of answers by kind, game and skill, and paired differences between policies on the same items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

from collab_overcooked.metrics.intervals import Estimate, mean_of_ratios, mean_of_shares
from collab_overcooked.metrics.paired import sign_test
from collab_overcooked.questions.answering import QuestionRecord
from collab_overcooked.questions.balance import BASELINES, baselines
from collab_overcooked.questions.items import KINDS, OWN, PARTNER, shipped_name
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.env_variants import variant_of

NOTES = (
    "Accuracy: share of correct answers in per cent; an answer that cannot be parsed, or that is none of the choices, "
    "is wrong. Above chance: (accuracy - chance) / (100 - chance).",
    "Answers without the state, computed from the choices of the same items: a uniformly random choice (chance), the "
    "best constant letter, the longest text, the alphabetically first text, and the text that is correct most often in "
    "the other items (majority, below chance in balanced sets).",
    "Intervals: 95 %, bootstrap over cases, because the items of a case share question and choices; Wilson's interval "
    "if all answers are correct or all are wrong.",
)
_COLUMNS = (
    Column("Items"),
    Column("n", "number"),
    Column("Accuracy", "estimate", 1, scale=100.0, key="accuracy"),
    *(Column(name.capitalize(), "number", 1, scale=100.0, key=name.replace(" ", "_")) for name in BASELINES),
    Column("Above chance", "number", 1, scale=100.0, key="above_chance"),
    Column("No choice", "number", key="no_choice"),
)


def policy_of(record: QuestionRecord) -> str:
    """Return policy, way of answering, withheld parts, and the question set unless it is the built-in one."""
    name, withheld = record.item.set, record.answer.without
    without = f", without {withheld}" if withheld else ""
    other = "" if name == shipped_name() else f", set {name}"
    return f"{next(iter(record.team.values()))} ({record.answer.way}{without}{other})"


def accuracy(records: Sequence[QuestionRecord]) -> tuple[Estimate, Estimate]:
    """Return accuracy with its interval, and the expected accuracy of random choices."""
    cases = _by(records, case_of).values()
    right = [sum(record.success for record in case) for case in cases]
    counts = [len(case) for case in cases]
    share = mean_of_ratios([right], [counts])
    if share is None or sum(right) in (0, sum(counts)):
        share = mean_of_shares([sum(right)], [sum(counts)])
    expected = sum(len(record.item.correct) / len(record.item.choices) for record in records) / len(records)
    return share, Estimate(expected)


def case_of(record: QuestionRecord) -> str:
    """Return the case of an item: the part of its id before the kind."""
    return str(record.task).partition(f"-{record.item.kind}")[0]


def cards(records: Sequence[QuestionRecord]) -> list[Scorecard]:
    """Return a card for every policy and question set, and one with the differences if there are several."""
    for record in records:
        _check_choices(record)
    by_policy = _by(records, policy_of)
    policy_cards = [_card(name, answered) for name, answered in by_policy.items()]
    return [*policy_cards, _differences(by_policy)] if len(by_policy) > 1 else policy_cards


def _check_choices(record: QuestionRecord) -> None:
    count, chosen = len(record.item.choices), record.answer.choice
    for name, numbers in (("item.correct", record.item.correct), ("answer.choice", [chosen or 0])):
        for number in numbers:
            if not 0 <= number < count:
                raise ValueError(f"{name}: got {number}, allowed are 0 to {count - 1}")


def _by(records: Iterable[QuestionRecord], key: Callable[[QuestionRecord], str]) -> dict[str, list[QuestionRecord]]:
    groups: dict[str, list[QuestionRecord]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups


def _card(name: str, records: Sequence[QuestionRecord]) -> Scorecard:
    rows = [_row("all", records)]
    for kind, group in _by(records, lambda record: record.item.kind).items():
        rows.append(_row(f"{kind}: {KINDS[kind]}", group))
    for game, group in _by(records, lambda record: variant_of(record).title).items():
        rows += [_row(game, group)]
        rows += [_row(f"{game}, {kind}", of) for kind, of in _by(group, lambda record: record.item.kind).items()]
    rows += [_row(f"part {part}", group) for part, group in _by(records, lambda record: record.item.part).items()]
    skills: dict[str, list[QuestionRecord]] = {}
    for record in records:
        for skill in record.item.skills:
            skills.setdefault(skill, []).append(record)
    table = ResultTable(_COLUMNS, tuple(rows))
    skill_table = ResultTable(
        _COLUMNS, tuple(_row(skill, group) for skill, group in sorted(skills.items())), "By skill"
    )
    data = ResultTable((Column("Policy", key="policy"), *_COLUMNS), tuple((name, *row) for row in rows))
    return Scorecard(
        "questions",
        f"Questions {records[0].item.set}: {len(records)} answers",
        (table, skill_table, *_together(records), _answers(records)),
        team=name,
        notes=NOTES,
        data=data,
    )


def _row(name: str, records: Sequence[QuestionRecord]) -> tuple[Cell, ...]:
    share, expected = accuracy(records)
    items = {_item_of(record): record.item for record in records}
    blind = baselines([(item.choices, item.correct) for item in items.values()])
    above = (share.value - expected.value) / (1.0 - expected.value)
    return name, len(records), share, *blind.values(), above, sum(r.answer.choice is None for r in records)


def _together(records: Sequence[QuestionRecord]) -> list[ResultTable]:
    """Return the table of seats that were asked both for their own and for the partner's next action in one state."""
    answers: dict[tuple[str, int | None, int], dict[str, QuestionRecord]] = {}
    for record in records:
        if record.item.seat is not None:
            answers.setdefault((case_of(record), record.item.seat, record.episode), {})[record.item.kind] = record
    pairs = [(asked[PARTNER], asked[OWN]) for asked in answers.values() if asked.keys() >= {PARTNER, OWN}]
    by_game: dict[str, list[tuple[bool, bool]]] = {}
    for partner, own in pairs:
        for name in ("all", variant_of(own).title):
            by_game.setdefault(name, []).append((partner.success, own.success))
    rows = []
    for name, both in by_game.items():
        known = [own for partner, own in both if partner]
        counts = [sum(partner for partner, _ in both), sum(own for _, own in both), sum(map(all, both))]
        shares = [mean_of_shares([count], [len(both)]) for count in counts]
        rows.append((name, len(both), *shares, mean_of_shares([sum(known)], [len(known)]) if known else None))
    return [ResultTable(_BOTH, tuple(rows), "Partner's and own action, asked of one seat")] if rows else []


_BOTH = (
    Column("Game"),
    Column("n", "number"),
    Column("Theory of mind", "estimate", 1, scale=100.0),
    Column("Situated reasoning", "estimate", 1, scale=100.0),
    Column("Both", "estimate", 1, scale=100.0),
    Column("Own, if the partner's is right", "estimate", 1, scale=100.0),
)


def _answers(records: Sequence[QuestionRecord]) -> ResultTable:
    columns = (Column("Item"), Column("Sample", "number"), Column("Answer"), Column("Right"), Column("Correct"))
    rows = []
    for record in records:
        choices, number = record.item.choices, record.answer.choice
        correct = ", ".join(choices[i] for i in record.item.correct)
        answer = "none" if number is None else choices[number]
        rows.append((record.task, record.episode, answer, "yes" if record.success else "no", correct))
    return ResultTable(columns, tuple(rows), "Answers", detail=True)


def _differences(by_policy: Mapping[str, Sequence[QuestionRecord]]) -> Scorecard:
    columns = (
        Column("Policies"),
        Column("Items"),
        Column("n", "number"),
        Column("Difference", "estimate", 1, scale=100.0),
        Column("Only the first right", "number"),
        Column("Only the second right", "number"),
        Column("p", "number", 3),
    )
    rows: list[tuple[Cell, ...]] = []
    for (name, first), (other, second) in combinations(by_policy.items(), 2):
        for kind in ("all", *KINDS):
            chosen = [record for record in first if kind in ("all", record.item.kind)]
            row = _difference(chosen, second)
            if row is not None:
                rows.append((f"{name} - {other}", kind, *row))
    notes = (
        "Differences of accuracy in points on items that both policies answered, with 95 % intervals of a bootstrap "
        "over cases; p: exact sign test.",
    )
    return Scorecard("question differences", "Paired comparison", (ResultTable(columns, tuple(rows)),), notes=notes)


def _difference(first: Sequence[QuestionRecord], second: Sequence[QuestionRecord]) -> tuple[Cell, ...] | None:
    right = {name: [r.success for r in group] for name, group in _by(second, _item_of).items()}
    asked = {name: group for name, group in _by(first, _item_of).items() if name in right}
    if not asked:
        return None
    gains: dict[str, list[float]] = {}
    counts = [0, 0]
    for name, group in asked.items():
        mine, other = _mean([r.success for r in group]), _mean(right[name])
        gains.setdefault(case_of(group[0]), []).append(mine - other)
        counts[0] += mine > other
        counts[1] += other > mine
    sums = [sum(values) for values in gains.values()]
    sizes = [len(values) for values in gains.values()]
    return len(asked), mean_of_ratios([sums], [sizes]), *counts, sign_test(*counts)


def _item_of(record: QuestionRecord) -> str:
    return f"{record.item.set}/{record.task}"


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / len(values)
