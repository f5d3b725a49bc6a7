"""People's pages in a real Chromium: keys, touch, the keyboard alone, talk, a lost connection, and what is loaded."""

from __future__ import annotations

import json

import pytest
from play.pages import (
    ACTIONS,
    ESCAPE,
    OVER,
    TURN,
    asked,
    hold,
    hosted,
    leave,
    opened,
    ready,
    record_of,
    start,
    step_of,
    wait_for_step,
)
from playwright.sync_api import expect

from collab_overcooked.registry import load_game

pytest.importorskip("starlette", reason="needs the extra play")
pytest.importorskip("websockets", reason="needs the extra play")
pytestmark = pytest.mark.browser
SOUP = ("overcooked", "--layouts", "cramped_room", "--max-cycles", "30", "--tick", "0.1", "--team", "agent_0=person")


def test_real_time_by_keys(context, problems, tmp_path) -> None:
    with hosted(tmp_path, *SOUP, "agent_1=greedy") as links:
        page = opened(context, links[0])
        start(page)
        hold(page, "ArrowLeft")
        hold(page, "w")
        record = record_of(page, tmp_path)
        assert page.locator("#board").bounding_box()["width"] > 100
        assert problems == []
    taken = {step.action_texts[0] for step in record.steps}
    assert {"west", "north"} <= taken and record.people["agent_0"].interface == "browser"


def test_keys_are_changed_and_restored_and_caps_lock_changes_nothing(context, problems, tmp_path) -> None:
    with hosted(tmp_path, *SOUP, "agent_1=random") as links:
        page = opened(context, links[0])
        page.click("#key-details summary")
        page.click("#key-list button >> nth=0")
        page.keyboard.press("z")
        expect(page.locator("#key-list li").first).to_contain_text("Up: Z")
        start(page)
        hold(page, "Z")  # north, by the new key
        hold(page, "A")  # west, as with Caps Lock
        page.click("#keys-reset")
        expect(page.locator("#key-list")).not_to_contain_text("Z")
        record = record_of(page, tmp_path)
        assert {"north", "west"} <= {step.action_texts[0] for step in record.steps}
        page.click("[data-rematch=again]")
        page.wait_for_url(lambda address: address != links[0])
        page.locator("#start").wait_for()
        assert problems == []


@pytest.mark.parametrize(
    "context", [{"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}], indirect=True
)
def test_touch_on_a_small_screen(context, tmp_path) -> None:
    with hosted(tmp_path, *SOUP, "agent_1=greedy") as links:
        page = opened(context, links[0])
        page.tap("#ready")
        wait_for_step(page, 0)
        heights = page.locator("#pad button").evaluate_all("buttons => buttons.map(button => button.offsetHeight)")
        assert len(heights) == 6 and min(heights) >= 44
        pad = page.locator("#pad").bounding_box()
        assert pad["y"] + pad["height"] <= 640, "the pad is in view"
        page.tap("[data-key=right]")
        record = record_of(page, tmp_path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert "east" in {step.action_texts[0] for step in record.steps}


def test_a_game_in_turns_by_the_keyboard_alone_without_the_picture(context, tmp_path) -> None:
    with hosted(tmp_path, *ESCAPE, "--team", "agent_0=person", "agent_1=greedy") as links:
        page = opened(context, links[0])
        ready(page)
        page.locator(TURN).wait_for()
        page.locator("#kitchen").evaluate("kitchen => { kitchen.style.display = 'none'; }")
        while asked(page) is not None:
            assert step_of(page) < 40
            expect(page.locator("#turn :focus")).to_be_attached()
            page.keyboard.press("1")
        expect(page.locator(OVER)).to_be_focused()
        expect(page.locator("#board")).to_have_attribute("aria-hidden", "true")
        record_of(page, tmp_path)


def test_two_people_talk_and_one_comes_back(context, problems, tmp_path) -> None:
    with hosted(tmp_path, *ESCAPE, "--team", "all=person") as links:
        one, other = opened(context, links[0]), opened(context, links[1])
        ready(other, one)
        one.locator(TURN).wait_for()
        assert not one.is_checked("#sound")
        one.fill("#say", "I go <b>left</b>")
        one.click("#send")
        expect(other.locator("#said")).to_contain_text("I go <b>left</b>")
        other.locator(TURN).wait_for()
        before = other.locator("#turn-title").text_content()
        other.fill("#say", "half")
        other.reload()
        other.locator(TURN).wait_for()
        expect(other.locator("#turn-title")).to_have_text(before)
        expect(other.locator("#say")).to_have_value("half")
        again = opened(context, links[1])
        other.locator("#notice").wait_for()
        again.locator(TURN).wait_for()
        leave(again)
        one.locator(OVER).wait_for()
        assert "has left" in one.locator("body").inner_text()
        assert problems == []
    (aborted,) = [json.loads(line) for line in (tmp_path / "aborted.jsonl").read_text("utf-8").splitlines()]
    assert aborted["ended"] == "left"


def test_a_message_is_cut_and_arrives_a_step_later(context, problems, tmp_path) -> None:
    limits = ("--max-chars", "20", "--max-episode-chars", "1500", "--message-delay", "1")
    with hosted(tmp_path, *ESCAPE, "--team", "all=person", *limits) as links:
        one, other = opened(context, links[0]), opened(context, f"{links[1]}?language=de")
        ready(other, one)
        one.locator(TURN).wait_for()
        rules = "A message has at most 20 characters; the rest is cut off. You may write {} more characters in this"
        expect(one.locator("#message-rules")).to_contain_text(rules.format("1,500"))
        expect(one.locator("#message-rules")).to_contain_text("Messages arrive 1 step later, so nobody answers")
        expect(other.locator("#message-rules")).to_contain_text("Nachrichten kommen 1 Schritt später an")
        assert one.locator("#say").get_attribute("maxlength") == "20"
        one.locator("#say").evaluate("input => { input.maxLength = 1000; }")  # as a page that was changed
        one.fill("#say", "I go to the north, and you")
        one.click("#send")
        other.locator(TURN).wait_for()
        assert other.locator("#said").text_content() == ""
        other.bring_to_front()
        other.click("#send")
        expect(one.locator("#said p")).to_have_text(["Alice (you):I go to the north, a"])
        one.locator(f"body[data-step='1'] {TURN}").wait_for()
        expect(one.locator("#message-rules")).to_contain_text(rules.format("1,480"))
        one.bring_to_front()
        one.click("#send")
        expect(other.locator("#said p")).to_have_text(["Alice:I go to the north, a"])
        assert other.evaluate("document.body.dataset.step") == "1"
        assert problems == []


def test_every_control_has_a_name_and_the_host_page_works(context, problems, tmp_path) -> None:
    with hosted(tmp_path, *ESCAPE, "--team", "all=person") as links:
        host, page = context.new_page(), opened(context, links[0])
        ready(opened(context, links[1]), page)
        host.goto(links[-1])
        expect(host.locator("#sessions a")).to_have_count(2)
        page.locator(TURN).wait_for()
        named = "e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.[0]?.textContent.trim()"
        controls = page.locator("button, input, textarea, a").filter(visible=True)
        assert controls.evaluate_all(f"all => all.filter(e => !({named})).map(e => e.outerHTML)") == []
        expect(page.locator("html")).to_have_attribute("lang", "en")
        host.get_by_role("button", name="End", exact=True).click()
        page.locator(OVER).wait_for()
        assert problems == []


def test_a_head_chef_orders_dishes(context, problems, tmp_path) -> None:
    texts = (
        "craft",
        "--paces",
        "1",
        "--agents",
        "2",
        "--episodes",
        "1",
        "--set",
        "max_cycles=6",
        "--team",
        "all=greedy",
    )
    with hosted(tmp_path, *texts, "--voice") as links:
        page = opened(context, links[0])
        ready(page)
        page.locator(TURN).wait_for()
        dish = page.locator(ACTIONS).first.get_attribute("data-action")
        page.locator(ACTIONS).first.click()
        page.fill("#say", "this one next")
        page.click("#send")
        for step in range(1, 6):
            page.locator(f"body[data-step='{step}'] {TURN}").wait_for()
            page.click("#send")
        record = record_of(page, tmp_path)
        assert problems == []
    assert record.steps[0].ordered == [dish] and record.steps[0].messages[0].say == "this one next"
    assert record.options["orders"][1] == dish


def test_a_german_page_shows_the_texts_of_games_in_english(context, problems, tmp_path) -> None:
    with hosted(tmp_path, *ESCAPE, "--team", "all=person", "--language", "de") as links:
        page = opened(context, links[0])
        expect(page.locator("#ready")).to_have_text("Ich bin bereit")
        rules = page.evaluate("document.getElementById('manual').textContent")
        assert rules.split() == load_game("CollabEscape-v0", map="ten_rooms_as_told").manual().split()
        assert problems == []


FORESEE = """(async () => {
  const { Picture } = await import('/page/picture.js');
  const made = () => { const node = document.createElement('div'), box = document.createElement('div');
    box.append(node); document.body.append(box); return node; };
  const parts = { stage: made(), panel: made(), hud: made(), orders: made() };
  const picture = new Picture({ ...parts, phrase: (t) => t, counted() {} });
  picture.room = () => ({ width: 300, height: 300 });
  picture.own = 0;
  const cell = (x, w) => ({ x, y: 0, s: 'floor', ...(w ? { w: 1 } : {}) });
  const put = { board: { size: [4, 1], ground: '#fff', cook: 1, patches: [], links: [] }, 'c:0,0': cell(0, 0),
    'c:1,0': cell(1, 1), 'c:2,0': cell(2, 1), 'c:3,0': cell(3, 1),
    'a:0': { x: 1, y: 0, s: 'facing_east', f: 'east' }, 'a:1': { x: 3, y: 0, s: 'other', f: 'west' } };
  picture.apply({ put });
  const shown = () => { const style = picture.cooks.get('a:0').style.transform;
    const sprite = picture.cooks.get('a:0').looks.match(/s-(\\w+)/)[1];
    return [Math.round(parseFloat(style.slice(10)) / picture.tile), sprite]; };
  const told = (x, f) => picture.apply({ put: { 'a:0': { x, y: 0, s: 'facing_' + f, f } } });
  const seen = [shown()];
  picture.foresee('east', [1, 0], 0.1, 1000); seen.push(shown());  // a free cell
  picture.apply({ put: {} }); seen.push(shown());                  // a frame that does not know of it yet
  told(2, 'east'); seen.push(shown());                             // confirmed
  picture.foresee('east', [1, 0], 0.1, 1000); seen.push(shown());  // the partner stands there
  told(1, 'west'); seen.push(shown());                             // a frame that differs
  picture.foresee('east', [1, 0], 0.1, 1000);
  told(1, 'west'); seen.push(shown());                             // the same again: not yet known
  picture.foresee('west', [-1, 0], 0.1, 1000); seen.push(shown()); // a wall
  picture.foresee('east', [1, 0], 0.1, -1);
  picture.apply({ put: {} }); seen.push(shown());                  // never confirmed
  for (const seat of [1, 7]) picture.speak(seat, '<b>hi</b>');     // nobody has seat 7
  seen.push([...picture.layer.querySelectorAll('.bubble')].map((bubble) => bubble.textContent));
  return seen;
})()"""


def test_own_moves_are_shown_at_once_and_taken_back_if_they_fail(context, tmp_path) -> None:
    with hosted(tmp_path, "overcooked", "--layouts", "cramped_room", "--team", "all=person") as links:
        page = opened(context, links[0])
        assert page.evaluate(FORESEE) == [
            [1, "facing_east"],
            [2, "facing_east"],
            [2, "facing_east"],
            [2, "facing_east"],
            [2, "facing_east"],
            [1, "facing_west"],
            [2, "facing_east"],
            [1, "facing_west"],
            [1, "facing_west"],
            ["<b>hi</b>"],
        ]


def test_a_click_walks_and_uses_in_real_time(context, problems, tmp_path) -> None:
    with hosted(tmp_path, *SOUP[:3], "--max-cycles", "160", *SOUP[5:], "agent_1=random") as links:
        page = opened(context, links[0])
        start(page)
        box = page.locator("#board").bounding_box()
        page.mouse.click(
            box["x"] + box["width"] * 0.1, box["y"] + box["height"] * 0.375
        )  # the onions at (0, 1) of 5 x 4
        record = record_of(page, tmp_path)
        assert problems == []
    taken = [step.action_texts[0] for step in record.steps]
    assert "interact" in taken and any(step.events[0] for step in record.steps), taken


OVERLAPS = """() => { const names = [...document.querySelectorAll('#board text')];
  return names.flatMap((one, i) => names.slice(i + 1).filter((other) => {
    const [a, b] = [one, other].map((name) => name.getBoundingClientRect());
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    return wide > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
  }).map((other) => `${one.textContent} and ${other.textContent}`)); }"""


@pytest.mark.parametrize("context", [{"viewport": {"width": 360, "height": 740}}], indirect=True)
def test_names_do_not_cover_each_other_on_a_small_screen(context, tmp_path) -> None:
    what = ["craft", "--paces", "1", "--agents", "2", "--episodes", "1", "--seed", "1"]
    with hosted(tmp_path, *what, "--team", "agent_0=person", "all=greedy") as links:
        page = opened(context, links[0])
        ready(page)
        page.locator(TURN).wait_for()
        expect(page.locator("#board text").filter(has_text="furnace")).to_be_attached()
        assert page.locator("#board text").count() > 10 and page.evaluate(OVERLAPS) == []


def test_a_click_walks_to_a_tool_and_offers_what_can_be_done_there(context, problems, tmp_path) -> None:
    what = ["cuisineworld", "--levels", "level_3", "--alphas", "2.0", "--episodes", "1"]
    with hosted(tmp_path, *what, "--team", "agent_0=person", "agent_1=greedy") as links:
        page = opened(context, links[0])
        ready(page)
        page.locator(TURN).wait_for()
        page.locator("[data-at^='c:']", has=page.locator("use")).first.wait_for(state="attached")
        spot = page.evaluate("""() => { const tile = document.querySelector('#board').getBoundingClientRect();
            const tag = [...document.querySelectorAll('#board text')].find((text) => text.textContent === 'storage');
            const box = tag.getBoundingClientRect(); return [box.x + box.width / 2, box.y - 12]; }""")
        page.mouse.click(*spot)
        page.locator("#pick button").first.wait_for()
        assert step_of(page) == 1 and "storage0" in page.locator("#pick button").first.get_attribute("data-action")
        page.locator("#pick button").first.click()
        page.locator(f"body[data-step='2'] {TURN}").wait_for()
        expect(page.locator("#panel")).not_to_contain_text("agent")
        assert not page.is_visible("#say-row") and not page.is_visible("#talk")
        assert problems == []
