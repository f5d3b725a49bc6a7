"""The suite of Rush: runs of episodes that follow on each other, records that replay alone, tables."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from support.cli_runner import CliRunner

import collab_overcooked
from collab_overcooked.cli import app
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.games.rush.options import RunOptions, RushScoring
from collab_overcooked.games.rush.suite import scoring
from collab_overcooked.games.rush.suite import suite as rush
from collab_overcooked.games.rush.suite.losses import lost_orders
from collab_overcooked.games.rush.text.episode_record import RushEvent
from collab_overcooked.io.structs import convert
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.reporting.report import choose_episodes
from collab_overcooked.reporting.result_table import Column
from collab_overcooked.reporting.results import score_paths
from collab_overcooked.runner.records import read_records
from collab_overcooked.runner.replay import first_difference, replay

KITCHEN = {
    "name": "kiosk",
    "description": "Two rounds at a kiosk.",
    "workers": 1,
    "max_turns": 4,
    "episodes": [
        {
            "recipes": {
                "Toast": {"ingredients": {"bread": 1}, "cook_time": 1},
                "Salad": {"ingredients": {"lettuce": 1}, "spices": {"green": 1}, "cook_time": 0},
            },
            "pantries": [{"id": 0, "spaces": 2, "stock": {"bread": 1, "lettuce": 1}}],
            "spicebags": [{"id": 1, "spaces": 1, "stock": {"green": 1}}],
            "stoves": [{"id": 2, "spaces": 1}],
        },
        {
            "recipes": {"Soup": {"ingredients": {"carrot": 1}, "cook_time": 2}},
            "pantries": [{"id": 5, "spaces": 1, "stock": {"carrot": 1}}],
            "spicebags": [{"id": 6, "spaces": 1}],
            "stoves": [{"id": 7, "spaces": 1}],
        },
    ],
}


@pytest.fixture(scope="module")
def kiosk(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("scenario") / "kiosk.yaml"
    path.write_text(yaml.safe_dump(KITCHEN, sort_keys=False))
    return str(path)


class Player:
    """Finishes or ruins what it can: ``cook`` does the first thing that ruins nothing, ``bad`` cooks at once.

    ``pupil`` is bad until it is told anything.
    """

    def __init__(self, spec: str) -> None:
        self.name = spec

    def reset(self, seat: int, info: Any, seed: int) -> None:
        self.seat = seat

    def act(self, seen: Any) -> int:
        if self.name == "idle":
            return 0
        cooks = [action for text, action in seen.legal_actions.items() if "COOK" in text or "JANTROX" in text]
        takes = [action for action in seen.legal_actions.values() if action and action not in cooks]
        if self.name == "bad" or (self.name == "pupil" and not seen.feedback):
            return (cooks or takes or [0])[0]
        ready = [order for order in seen.scene["orders"] if order["ingredients"] and not order["finished"]]
        return takes[-self.seat] if takes else cooks[0] if ready and self.seat == 0 else 0

    def reply(self, seen: Any) -> None:
        return None


def play(folder, kiosk, team="all=cook", **options):
    plan = plan_evaluation("rush", [team], scenario=[kiosk], **options)
    return evaluate(plan, folder, workers=1, make=Player)


@pytest.fixture(scope="module")
def played(tmp_path_factory, kiosk):
    folder = tmp_path_factory.mktemp("rush") / "run"
    return folder, play(folder, kiosk, runs=2, agents=[1, 2], teacher=["none", "teacher_group"])


def card_of(records, **options):
    (card,) = rush.RushSuite().score(records, RushScoring(**options))
    return card


def table_of(records, title, **options):
    return next(table for table in card_of(records, **options).tables if table.title.startswith(title))


def test_a_run_plays_all_episodes_in_turn(played):
    _, records = played
    assert len(records) == 2 * 2 * 2 * 2 * 2  # domains, numbers of agents, teachers, runs, episodes
    parts = [record for record in records if record.task == "kiosk, kitchen, 2 agents, teacher_group"]
    assert [(r.seed, r.episode, r.round) for r in parts] == [(0, 0, 0), (0, 1, 1), (1, 2, 0), (1, 3, 1)]
    assert [order.name for order in parts[1].orders] == ["Soup"]
    assert parts[1].options == {"episode": 1} and parts[1].max_turns == 4
    assert {record.env_id for record in records} == {"KitchenRush-v0", "AlienRush-v0"}


def test_metrics_stand_in_the_records(played):
    _, records = played
    first = next(r for r in records if r.task == "kiosk, kitchen, 2 agents")
    assert first.metrics == {
        "completed": 2,
        "ruined": 0,
        "turns": 3,
        "early": True,
        "positive": [3, 1],
        "negative": [0, 0],
        "neutral": [0, 2],
        "advanced": [3, 1],
        "balance": 0.5,
        "return": 2.0,
    }


def test_alien_episodes_are_the_kitchens(played):
    _, records = played
    by_task: dict[str, list[Any]] = {}
    for record in records:
        by_task.setdefault(record.task, []).append(record)
    for task, actual in by_task.items():
        if "kitchen" in task:
            reference = by_task[task.replace("kitchen", "alien")]
            for one, other in zip(actual, reference, strict=True):
                assert one.metrics == other.metrics
                assert [step.events for step in one.steps] == [step.events for step in other.steps]


def test_feedback_reaches_the_next_episode_of_the_same_run_only(played):
    _, records = played
    for record in records:
        taught = record.teacher == "teacher_group" and record.round == 1
        assert bool(record.feedback) == taught
    alien = [r.feedback[0] for r in records if r.feedback and r.env_id == "AlienRush-v0"]
    assert all("irenkels were finished" in text and "orders" not in text for text in alien)


def test_every_record_replays_alone(played):
    _, records = played
    assert [first_difference(record) for record in records] == [None] * len(records)
    last = list(replay(records[1]))[-1]
    assert last.over and last.env.scene()["episode"] == 1


def test_a_run_that_was_stopped_is_continued(played, kiosk, tmp_path):
    folder, _ = played
    lines = (folder / "records.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "config.json").write_text((folder / "config.json").read_text())
    (tmp_path / "records.jsonl").write_text("".join(lines[:5]) + lines[5][:40])
    again = play(tmp_path, kiosk, runs=2, agents=[1, 2], teacher=["none", "teacher_group"])
    assert again == read_records(folder)
    assert (tmp_path / "records.jsonl").read_text() == (folder / "records.jsonl").read_text()


def test_more_episodes_go_round(kiosk, tmp_path):
    records = play(tmp_path, kiosk, episodes=3, domain=["kitchen"])
    assert [record.round for record in records] == [0, 1, 0]
    assert all(first_difference(record) is None for record in records)


def test_own_lexicons_are_domains(kiosk, tmp_path):
    text = tmp_path / "words.yaml"
    names = "toast salad soup meat carrot lettuce bread pasta cheese green black white yellow red kitchen recipe order"
    names += " ingredient spice meal cook pantry spicebag stove"
    text.write_text("name: own\nwords:\n" + "".join(f"  {name}: x{name}q\n" for name in names.split()))
    records = play(tmp_path / "run", kiosk, domain=[str(text)])
    assert records[0].env_kwargs["lexicon"] == str(text) and records[0].env_id == "KitchenRush-v0"
    assert "xorderq" in records[0].steps[0].action_texts[0]
    assert all(first_difference(record) is None for record in records)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scenario": ["eazy"]}, "unknown scenario 'eazy'; did you mean easy"),
        ({"domain": ["elvish"]}, "unknown lexicon 'elvish'"),
        ({"domain": []}, "domain must name at least one"),
        ({"teacher": ["teacher_grp"]}, "unknown teacher 'teacher_grp'"),
        ({"runs": 0}, "runs must be an integer of at least 1, not 0"),
        ({"options": {"episode": 1}}, "option 'episode' is set by the suite"),
        ({"options": {"lexicon": "alien"}}, "option 'lexicon' is set by --domain"),
        ({"options": {"mask": "saf"}}, "unknown mask 'saf'; did you mean safe"),
        ({"team": ["agent_0=random"]}, r"no policy for agent_1.*\(with 2 agents\)"),
    ],
)
def test_mistakes_are_found_before_playing(options, message):
    with pytest.raises(ValueError, match=message):
        plan_evaluation("rush", options.pop("team", ["all=random"]), **{"scenario": ["easy"], **options})


def test_two_scenarios_of_one_name_are_refused(tmp_path, kiosk):
    other = tmp_path / "other.yaml"
    other.write_text(yaml.safe_dump(KITCHEN))
    with pytest.raises(ValueError, match="are both called 'kiosk'; rename one"):
        plan_evaluation("rush", ["all=random"], scenario=[kiosk, str(other)])


def texts_of(table):
    """Return the cells as readers see them, intervals behind numbers, by the name of the row."""
    return {
        name: tuple(f"{text} ({span})" if span else text for text, span in map(Column.text, table.columns[1:], cells))
        for name, *cells in table.rows
    }


def test_the_group_table_has_means_over_episodes(played):
    table = table_of(played[1], "Group")
    heads = [column.name for column in table.columns]
    assert heads == ["Setting", "runs", "episodes", "CR", "RR", "turns", "ended early %", "balance"]
    rows = texts_of(table)
    assert list(rows)[:2] == ["kiosk, kitchen, 1 agent, no teacher", "kiosk, kitchen, 1 agent, teacher_group"]
    assert rows["kiosk, kitchen, 2 agents, no teacher"] == ("2", "4", "1.50", "0.00", "3.00", "100", "0.250")
    assert rows["kiosk, kitchen, 1 agent, no teacher"][-1] == "–"


def test_names_tell_what_settings_differ_in(played):
    two = [r for r in played[1] if len(r.team) == 2 and r.teacher == "none"]
    assert list(texts_of(table_of(two, "Group"))) == ["kiosk, kitchen", "kiosk, alien"]
    assert card_of(two).title == "Rush, 2 agents, no teacher"


def test_intervals_show_where_runs_differ(kiosk, tmp_path):
    plan = plan_evaluation("rush", ["all=random"], scenario=[kiosk], domain=["kitchen"], runs=6)
    records = evaluate(plan, tmp_path, workers=1)
    cell = texts_of(table_of(records, "Group"))["kiosk, kitchen"][2]
    assert "(" in cell and "–" in cell
    assert "95 % intervals" in " ".join(card_of(records).notes)


def test_the_individual_table_has_a_row_for_each_agent(played):
    rows = texts_of(table_of(played[1], "Individual"))
    assert rows["kiosk, kitchen, 2 agents, no teacher: agent_0"] == ("3.00", "0.00", "0.00", "3.00", "86")
    assert rows["kiosk, kitchen, 2 agents, no teacher: agent_1"] == ("0.50", "0.00", "2.50", "3.00", "14")


def test_episodes_have_rows_of_their_own(played):
    rows = texts_of(table_of(played[1], "Episodes"))
    assert rows["kiosk, kitchen, 2 agents, no teacher: episode 1"][:2] == ("2", "2.00")
    assert rows["kiosk, kitchen, 2 agents, no teacher: episode 2"][:2] == ("2", "1.00")


def test_ends_are_counted_by_completed_recipes(kiosk, tmp_path):
    records = play(tmp_path / "a", kiosk, "all=cook", domain=["kitchen"])
    table = table_of(records, "How episodes ended")
    heads = ["Setting", "episodes", "CR 0 %", "CR 1 %", "CR 2 %", "early %", "RR"]
    assert [column.name for column in table.columns] == heads
    assert texts_of(table) == {"kiosk, kitchen": ("2", "0", "0", "0", "100", "0.00")}
    records = play(tmp_path / "b", kiosk, "all=idle", domain=["kitchen"])
    rows = texts_of(table_of(records, "How episodes ended"))
    assert rows == {"kiosk, kitchen": ("2", "100", "0", "0", "0", "0.00")}


def test_published_ends_stand_below_pairs_of_one_model_in_hard_without_teacher(tmp_path):
    """Table 3 of the paper in the reading of rush_published.md; shares are per cent of 9 episodes."""
    plan = plan_evaluation("rush", ["all=random"], scenario=["easy", "hard"], domain=["kitchen"])
    scripted = evaluate(plan, tmp_path, workers=1)
    records = [record.replace(team=dict.fromkeys(record.team, "llm:m")) for record in scripted]
    table = table_of(records, "How episodes ended")
    rows = texts_of(table)
    assert list(rows) == ["easy, kitchen", "hard, kitchen", "  GPT-4o, published", "  Gemini 1.5 Flash, published"]
    assert rows["  GPT-4o, published"] == ("9", "0", "0", "0", "22", "78", "0", "0", "0.11")
    assert rows["  Gemini 1.5 Flash, published"][-2:] == ("34", "2.66") and table.marks == {
        2: "published",
        3: "published",
    }
    assert "our reading" in " ".join(card_of(records).notes)
    taught = [record.replace(teacher="teacher_group") for record in records]
    assert len(table_of(taught, "How episodes ended").rows) == 2
    for team, rows in (
        (["llm:m?preset=rush"] * 2, 4),
        (["llm:m?preset=rush,manual=off"] * 2, 2),  # the paper's had the manual
        (["llm:m?preset=rush", "llm:n?preset=rush"], 2),
        (["random"] * 2, 2),
    ):
        models = [record.replace(team=dict(zip(record.team, team, strict=True))) for record in records]
        assert len(table_of(models, "How episodes ended").rows) == rows


@pytest.mark.parametrize(
    ("student", "noted"),
    [
        ("llm:m?preset=rush", True),
        ("llm:m?manual=on", True),
        ("llm:missing.yaml", True),
        ("slow:2:llm:m", True),
        ("llm:m?preset=rush,manual=off", False),
        ("slow:2:llm:m?manual=off", False),
        ("random", False),
    ],
)
def test_results_of_taught_students_with_the_manual_say_so(kiosk, tmp_path, student, noted):
    """The paper's students of a teacher have no manual."""
    records = play(tmp_path, kiosk, "all=idle", domain=["kitchen"], teacher=["none", "teacher_group"])
    team = {"agent_0": "random", "agent_1": student}
    rows = scoring.rows_of({"": [record.replace(team=team) for record in records]})
    assert {row.teacher for row in rows} == {"none", "teacher_group" + ", students with manual" * noted}
    plan = rush.RushSuite().matches(
        ["agent_0=random", f"agent_1={student}"],
        RunOptions(scenario=(kiosk,), domain=("kitchen",), teacher=("none", "teacher_group")),
        {},
    )
    assert [match.task for match in plan] == [
        "kiosk, kitchen, 2 agents",
        "kiosk, kitchen, 2 agents, teacher_group" + ", students with manual" * noted,
    ]


def test_the_summary_shows_positive_and_negative_actions_of_each_player(kiosk, tmp_path):
    """Figure 7 of the paper; shares are those of the player's own actions."""
    team = "agent_0=cook agent_1=bad".split()
    plan = plan_evaluation("rush", team, scenario=[kiosk], domain=["kitchen"])
    records = evaluate(plan, tmp_path, workers=1, make=Player)
    tables, (_, chart) = rush.RushSuite().comparison_tables({"run": records})
    assert "by player" in tables[-1].title and "by player" in chart.title
    assert chart.groups == ("agent_0=cook all=bad: agent_0", "agent_0=cook all=bad: agent_1")
    for seat in (0, 1):
        counts = {
            name: sum(record.metrics[name][seat] for record in records) for name in ("positive", "negative", "neutral")
        }
        for kind, name in (("A+", "positive"), ("A-", "negative")):
            share = counts[name] / sum(counts.values())
            assert chart.series[kind][seat].value == pytest.approx(share)
    assert chart.series["A-"][1].value > 0 == chart.series["A-"][0].value


def test_the_summary_joins_conditions_scenarios_and_domains(kiosk, tmp_path):
    """Figures 6 and 14 of the paper: what `score` counts for each of them, in one table and chart."""
    played = {
        "manual": play(tmp_path / "manual", kiosk),
        "taught": play(tmp_path / "taught", kiosk, "all=bad", domain=["kitchen"], teacher=["none", "teacher_group"]),
    }
    tables, charts = rush.RushSuite().comparison_tables(played)
    table, chart = tables[0], charts[0]
    assert [column.name for column in table.columns[1:]] == ["kiosk, kitchen", "kiosk, alien"] == list(chart.groups)
    assert [row[0] for row in table.rows] == ["all=cook", "all=bad", "all=bad, taught by teacher_group"]
    assert [row[2] is None for row in table.rows] == [False, True, True]
    scores = {
        (run, row.teacher, row.place): row.mean("completed")
        for run, records in played.items()
        for row in scoring.rows_of({"": records})
    }
    assert table.rows[0][2] == scores["manual", "none", "kiosk, alien"]
    assert table.rows[2][1] == scores["taught", "teacher_group", "kiosk, kitchen"]


def test_teachings_are_compared_seed_by_seed_in_episodes_after_feedback(kiosk, tmp_path):
    """In the second episode, the soup is finished by whoever was told anything, and ruined by all others."""
    teachings = ["none", "teacher_group", "placebo_group"]
    records = play(tmp_path, kiosk, "all=pupil", domain=["kitchen"], runs=3, teacher=teachings)
    (card,) = rush.RushSuite().score(records, RushScoring())
    scored = next(table for table in card.tables if "shared seeds" in table.title)
    rows = {row[0].partition(": ")[2]: row[1:] for row in scored.rows}
    nothing, all_of_it = Estimate(0.0, 0.0, 0.0), Estimate(1.0, 1.0, 1.0)
    assert rows == {
        "teacher_group against no teacher": (3, all_of_it, Estimate(-1.0, -1.0, -1.0)),
        "teacher_group against placebo_group": (3, nothing, nothing),
        "placebo_group against no teacher": (3, all_of_it, Estimate(-1.0, -1.0, -1.0)),
    }
    parts = {teacher: [record for record in records if record.teacher == teacher] for teacher in teachings}
    joined = rush.RushSuite().comparison_tables(parts)[0][1]  # whichever folders they are in
    assert [row[1:] for row in joined.rows] == [row[1:] for row in scored.rows]
    assert joined.rows[0][0] == "all=pupil, kiosk, kitchen, 2 agents: teacher_group against no teacher"
    (card,) = rush.RushSuite().score(parts["teacher_group"], RushScoring())
    assert not any("shared seeds" in table.title for table in card.tables)


@pytest.mark.parametrize("team", ["all=cook", "all=bad", "agent_0=cook agent_1=bad", "all=idle"])
def test_losses_add_up_to_what_the_best_play_has_more(kiosk, tmp_path, team):
    plan = plan_evaluation("rush", team.split(), scenario=[kiosk], domain=["kitchen"])
    records = evaluate(plan, tmp_path, workers=1, make=Player)
    found = [lost_orders(record) for record in records]
    if "idle" not in team:  # nobody wastes time here, so that orders are lost by ruining them alone
        assert found == [tuple(record.metrics["negative"]) for record in records]
    assert [sum(of) for of in found] == [
        best - record.metrics["completed"] for best, record in zip((2, 1), records, strict=True)
    ]
    (card,) = rush.RushSuite().score(records, RushScoring(losses=True))
    table = next(table for table in card.tables if "Individual" in table.title)
    column = [head.name for head in table.columns].index("lost orders")
    assert [row[column].value for row in table.rows] == [sum(of[seat] for of in found) / 2 for seat in (0, 1)]
    assert "best known play" in " ".join(card.notes)


def test_attribution_changes_what_is_positive(kiosk, tmp_path):
    records = play(tmp_path, kiosk, "all=cook", domain=["kitchen"], options={"max_turns": 1})
    final, immediate = (table_of(records, "Individual", attribution=word) for word in ("final", "immediate"))
    assert [row[1].value for row in final.rows] == [0.0, 0.0]
    assert [row[1].value for row in immediate.rows] == [1.0, 0.5]
    assert card_of(records).title == "Rush, max_turns 1, 2 agents, no teacher"
    with pytest.raises(ValueError, match="attribution must be"):
        card_of(records, attribution="later")


def test_teams_and_variants_are_scored_apart(kiosk, tmp_path):
    records = play(tmp_path / "a", kiosk) + play(tmp_path / "b", kiosk, "all=bad")
    cards = rush.RushSuite().score(records, RushScoring())
    assert [card.team for card in cards] == ["all=cook", "all=bad"]


def test_reports_show_failures_first(kiosk, tmp_path):
    records = play(tmp_path / "a", kiosk, "all=cook") + play(tmp_path / "b", kiosk, "all=bad", domain=["kitchen"])
    chosen = choose_episodes(records)
    assert [rush.RushSuite().outcome(record) for record in chosen[:2]] == [
        "0 completed, 2 ruined",
        "2 completed, 0 ruined",
    ]
    assert chosen[1].task == "kiosk, alien, 2 agents"


def test_events_are_told_in_words(kiosk, tmp_path):
    records = play(tmp_path, kiosk, "all=bad", domain=["kitchen"])
    events = [event for step in records[0].steps for event in step.events]
    messages = [convert(event, RushEvent).text for event in events]
    assert messages[0] == "COOK_MEAL(stove, Toast): ruined"
    env = collab_overcooked.make(records[0].env_id, **records[0].env_kwargs)
    env.reset(seed=records[0].seed)
    action = env.parse(records[0].steps[0].action_texts[0])
    env.step(dict.fromkeys(env.agents, action))  # at once, so that the second does not see what the first has done
    assert convert(env.events()[1], RushEvent).text == "COOK_MEAL(stove, Toast): refused, order ruined"


def run(*text):
    return CliRunner().invoke(app, [str(word) for word in text])


def test_the_suite_runs_from_the_command_line(kiosk, tmp_path):
    out = tmp_path / "run"
    command = ("evaluate", "rush", "--team", "all=random", "--scenario", kiosk, "--domain", "kitchen,alien")
    command += ("--teacher", "none,teacher_individual", "--runs", 2, "--workers", 1, "--out", out)
    done = run(*command)
    assert done.exit_code == 0, done.output
    assert {path.name for path in out.iterdir()} - {".lock"} == {
        "config.json", "records.jsonl", "table.md", "table.csv", "table.json", "report.html",
    }  # fmt: skip
    assert "kiosk, alien, teacher_individual" in done.stdout
    assert "Content-Security-Policy" in (out / "report.html").read_text()
    again = run(*command)
    assert "continuing, 16 of 16 episodes are there" in again.output
    assert run("replay", out, "--check").stdout.startswith("16 of 16 episodes replay")
    message = run("replay", out, "--episode", 1)
    assert "completed" in message.stdout and "after" in message.stdout and "was told" not in message.stdout
    taught = run("replay", out, "--task", "kiosk, kitchen, 2 agents, teacher_individual", "--episode", 1).stdout
    assert "agent_1 was told:" in taught and "Your role: agent_1" in taught
    assert "advanced an order, finished later or not" in run("score", out, "--attribution", "immediate").stdout
    assert json.loads(run("score", out, "--format", "json").stdout)[0]["data"][0]["attribution"] == "final"
    assert run("report", out, "--attribution", "immediate").exit_code == 0
    assert "finished later or not" in (out / "table.md").read_text()
    assert run("render", out, "--out", tmp_path / "last.png").exit_code == 0
    assert [card.game for card in score_paths([out])] == ["rush"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (("--levels", "1"), "Unknown option: --levels"),
        (("--alphas", "1.0"), "Unknown option: --alphas"),
        (("--scenario", "eazy"), "unknown scenario 'eazy'"),
        (("--teacher", "me"), "unknown teacher 'me'"),
        (("--attribution", "later"), "unknown attribution 'later'"),
    ],
)
def test_options_of_other_suites_are_refused(text, message, tmp_path):
    done = run("evaluate", "rush", *text, "--team", "all=random", "--out", tmp_path / "never")
    assert done.exit_code == 2 and message in done.output
    assert not (tmp_path / "never").exists()
    other = run("evaluate", "cuisineworld", "--teacher", "none", "--out", tmp_path / "never")
    assert "Unknown option: --teacher" in other.output


def test_what_there_is_can_be_listed_and_described():
    assert [line.split()[0] for line in run("list", "scenarios").stdout.splitlines()] == ["easy", "hard"]
    assert run("list", "lexicons").stdout.startswith("alien  ")
    assert "teacher_group:scripted" in run("list", "teachers").stdout
    text = run("describe", "hard").stdout
    assert "2 agents, 2 workers each; 10 turns" in text and "Episode 3:" in text and "- stove2: 1 action space" in text
    assert "Every game also takes `lexicon`" in run("describe", "AlienRush-v0").stdout
