from __future__ import annotations

import copy
import html
import json
import re

import pytest
from attacks.records import PLANS
from msgspec import to_builtins

from collab_overcooked.core.record import MessageEntry
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.reporting import report
from collab_overcooked.reporting.pictures import SPRITE, picture_of
from collab_overcooked.reporting.report import build_report, choose_episodes
from collab_overcooked.reporting.results import score_records
from collab_overcooked.runner.records import RecordError
from collab_overcooked.runner.replay import replay


@pytest.fixture(scope="module")
def records(tmp_path_factory, talker):
    plan = plan_evaluation(
        "collab-overcooked", ["agent_0=<b>chef", "agent_1=helper"], tasks=["boiled_egg", "boiled_corn_slices"]
    )
    return evaluate(plan, tmp_path_factory.mktemp("report"), workers=1, make=talker)


@pytest.fixture(scope="module")
def page(records):
    return build_report(records, score_records(records))


def markup(page):
    return page[: page.index("<script")]


def drawn(page):
    return json.loads(re.search(r'<script type="application/json" id="replays">(.*?)</script>', page, re.DOTALL)[1])


def embedded(page):
    return drawn(page)["episodes"]


def test_the_page_holds_tables_charts_and_replays(page, records):
    assert markup(page).count("<svg") == 4
    assert "boiled_corn_slices" in page
    replays = embedded(page)
    assert len(replays) == 2
    steps = {replay["title"].split(", ")[1]: replay["steps"] for replay in replays}
    for record in records:
        displayed = steps[record.task]
        assert [step["actions"] for step in displayed] == [step.action_texts for step in record.steps]
        assert [step["messages"] for step in displayed] == [to_builtins(step.messages) for step in record.steps]
    for data in replays:
        assert len(data["frames"]) == len(data["steps"]) + 1


@pytest.mark.parametrize("seat", [None, 0, 1])
def test_differences_lead_to_the_picture_of_what_is_known_in_every_state(records, seat):
    (data,) = report.replays(records[:1], 1, seat=seat)
    picture: dict = {}
    for step, frame in zip(replay(records[0]), data["frames"], strict=True):
        picture = {key: value for key, value in picture.items() if key not in frame.get("drop", ())} | frame["put"]
        game, scene = step.env.game, step.env.game.scene(step.env.arrays[0], 0)
        expected = picture_of(game, scene if seat is None else game.seat_scene(scene, seat), seat)
        assert picture == {key: value for key, value in expected.items() if not key.startswith(SPRITE)}
        assert {key: value for key, value in expected.items() if key.startswith(SPRITE)}.items() <= data[
            "sprites"
        ].items()


def test_a_page_has_the_sprites_of_all_its_replays_once(page, records):
    films = list(report.replays(choose_episodes(records), 2))
    assert drawn(page)["sprites"] == films[0]["sprites"] | films[1]["sprites"]
    assert not any("sprites" in data for data in embedded(page))


def test_the_page_needs_no_network(page):
    without_names = page.replace("http://www.w3.org/2000/svg", "").replace("http://www.w3.org/1999/xlink", "")
    assert not re.findall(
        r"(?:src|href)=\"(?!#|data:)[^\"]+\"|url\((?!#)|@import|https?://(?!www\.w3\.org)", without_names
    )
    assert "default-src 'none'" in page
    assert len(page) < 10_000_000


def test_texts_of_policies_cannot_become_markup(page):
    assert "<script>document" not in page
    assert "<b>chef" not in page
    assert "&lt;b&gt;chef" in page
    replies = [m["say"] for replay in embedded(page) for step in replay["steps"] for m in step["messages"]]
    assert "Alice, <script>document.title='hurt'</script> & please" in replies


def test_equal_records_give_equal_pages(page, records):
    assert build_report(records, score_records(records)) == page


def test_every_level_is_shown_failures_first(records):
    def episode(level, success):
        return records[0].replace(level=level, success=success)

    many = [episode(level, success) for level in (1, 2, 3) for success in (True, False, False)] + [episode(4, True)]
    chosen = [(record.level, record.success) for record in choose_episodes(many)]
    assert chosen[:4] == [(1, False), (2, False), (3, False), (4, True)]
    assert chosen[4:7] == [(1, False), (2, False), (3, False)]


def test_a_kitchen_without_references_has_a_report_too(tmp_path):
    team = [f"agent_{seat}=random" for seat in range(3)]
    plan = plan_evaluation("collab-overcooked", team, tasks=["boiled_egg"], kitchen="three_agents")
    records = evaluate(plan, tmp_path, workers=1)
    page = build_report(records, score_records(records))
    assert markup(page).count("<svg") == 2
    assert "<td>–</td>" in page and "no reference trajectories" in page


@pytest.fixture
def browse(context, tmp_path):
    def dump(page: str, fragment: str = "") -> str:
        path = tmp_path / "report.html"
        path.write_text(page, encoding="utf-8")
        tab = context.new_page()
        tab.goto(path.as_uri() + fragment)
        tab.locator("html[data-ready=yes]").wait_for()
        return tab.content()

    return dump


@pytest.mark.browser
def test_the_page_works_in_a_browser(page, records, browse):
    dom = browse(page, "#0.1")
    first = choose_episodes(records)[0]
    assert 'data-ready="yes"' in dom
    assert f"Timestep 1 of {first.timesteps}" in dom
    assert re.search(r'aria-label="[^"]+: the picture after 1 timesteps"', dom)
    assert dom.count('class="cook"') == 2 and re.search(r'<g data-at="c:[\d,.]+" transform=[^>]+><use', dom)
    assert html.escape(first.steps[0].action_texts[1]) in dom


@pytest.mark.browser
def test_a_script_in_a_message_does_not_run(page, browse):
    dom = browse(page)
    assert "&lt;script&gt;document.title='hurt'&lt;/script&gt; &amp; please" in dom
    assert "<title>hurt" not in dom


@pytest.mark.browser
def test_what_teachers_said_stands_before_the_conversation(records, browse):
    hurt = "Hurry <script>document.title='hurt'</script>"
    displayed = html.escape(hurt, quote=False)

    def story(feedback):
        record = choose_episodes(records)[0].replace(feedback=feedback)
        dom = browse(build_report([record], score_records([record])))
        assert "<title>hurt" not in dom
        return dom[dom.index('<ol id="story"') : dom.index("</ol>")]

    message = story([hurt, "Wait."])
    assert (
        message.index(f"Bob was told: {displayed}") < message.index("Alice was told: Wait.") < message.index("please")
    )
    message = story([hurt, hurt])
    assert message.count(f"All were told: {displayed}") == 1 and "was told" not in message
    assert "told" not in story(["", ""])


@pytest.mark.browser
def test_a_script_in_the_page_that_is_not_ours_does_not_run(page, browse):
    dom = browse(page.replace("</main>", "<script>document.title='hurt'</script></main>"))
    assert "<title>hurt" not in dom
    assert 'data-ready="yes"' in dom


def test_a_changed_record_changes_the_page(page, records):
    changed = copy.deepcopy(records)
    changed[0].steps[0].messages.append(MessageEntry(agent=1, say="unheard-of", plan=""))
    assert "unheard-of" in build_report(changed, score_records(changed))
    assert "unheard-of" not in page


def test_an_episode_that_does_not_fit_is_not_drawn_to_its_end(records, monkeypatch):
    drawings = []

    def counted(game, scene, seat):
        drawings.append(scene)
        return picture_of(game, scene, seat)

    monkeypatch.setattr(report, "picture_of", counted)
    monkeypatch.setattr(report, "MAX_PICTURE_BYTES", 1)
    assert list(report.replays(records, 2)) == []
    assert len(drawings) == len(records)  # one picture of each says it
    monkeypatch.setattr(report, "MAX_PICTURE_BYTES", 10**6)
    drawings.clear()
    (data,) = report.replays([records[0]] * 9, 1)
    size, frames = len(json.dumps([data["frames"], data["sprites"]])), len(drawings)
    monkeypatch.setattr(report, "MAX_PICTURE_BYTES", size + 20 * frames)
    drawings.clear()
    assert len(list(report.replays([records[0]] * 9, 9))) == 1
    assert frames < len(drawings) < 2 * frames  # the second one shows that no other fits


@pytest.mark.browser
@pytest.mark.parametrize("suite", [suite for suite in PLANS if suite != "questions"])
def test_the_report_of_every_game_fits_a_phone_and_plays_to_its_end(suite, context, problems, tmp_path):
    plan = plan_evaluation(suite, ["all=random"], **PLANS[suite])
    records = evaluate(plan, tmp_path / "run", workers=1)
    path = tmp_path / "report.html"
    path.write_text(build_report(records, score_records(records)), encoding="utf-8")
    tab = context.new_page()
    for width, height in ((1280, 900), (360, 740)):
        tab.set_viewport_size({"width": width, "height": height})
        tab.goto(path.as_uri() + "#0.1")
        tab.locator("html[data-ready=yes]").wait_for()
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        board, screen = tab.locator("#board").bounding_box(), tab.locator("#screen").bounding_box()
        assert 0.3 * screen["width"] < board["width"] <= screen["width"]
    tab.locator("#slider").press("End")
    steps = embedded(path.read_text(encoding="utf-8"))[0]["steps"]
    assert tab.locator("#when").text_content() == f"Timestep {len(steps)} of {len(steps)}"
    assert problems == []


def test_reports_refuse_actions_that_a_game_does_not_have(random_records):
    record = copy.deepcopy(random_records[0])
    record.steps[-1].actions = [0, 10**6]
    with pytest.raises(RecordError, match=r"actions\[1\]: got 1000000, allowed are 0 to"):
        build_report([record], [])


def test_a_card_begins_with_its_result() -> None:
    plan = plan_evaluation("overcooked", ["all=greedy"], layouts=["cramped_room"], episodes=2)
    (card, *_) = score_records([record for match in plan.matches for record in match.run()])
    assert re.fullmatch(r"Score of 400 steps: [\d.]+(, 95 % interval [\d.–]+)?, in \d+ episodes(; .*)?\.", card.result)
    assert card.result in card.markdown() and card.to_dict()["result"] == card.result
    assert card.result in build_report([record for match in plan.matches for record in match.run()], [card])
