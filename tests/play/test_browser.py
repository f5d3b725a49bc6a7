"""People's pages in a real Chromium: keys, touch, the keyboard alone, talk, a lost connection, and what is loaded."""

from __future__ import annotations

import json
import time

import pytest
from play.pages import BROWSER, ESCAPE, OVER, PLAYING, READY, START, TURN, hosted, opened, records

from collab_overcooked import registry

pytest.importorskip("starlette", reason="needs the extra play")
pytest.importorskip("websockets", reason="needs the extra play")
pytestmark = BROWSER


def test_real_time_by_keys(browser, tmp_path) -> None:
    texts = ["overcooked", "--layouts", "cramped_room", "--horizon", "30", "--tick", "0.1", "--team", "agent_0=person"]
    with hosted(tmp_path, *texts, "agent_1=greedy") as links:
        page = opened(browser, links[0])
        page.wait(START, 60)
        page.run(READY)
        page.wait(PLAYING)
        page.key("ArrowLeft", 0.5)
        page.key("w", 0.5)
        page.wait(OVER)
        assert page.run("document.getElementById('board').getBoundingClientRect().width") > 100
        assert page.problems() == []
        (record,) = records(tmp_path)
    taken = {step["action_texts"][0] for step in record["steps"]}
    assert {"west", "north"} <= taken and record["people"]["agent_0"]["interface"] == "browser"


def test_keys_are_changed_and_restored_and_caps_lock_changes_nothing(browser, tmp_path) -> None:
    texts = ["overcooked", "--layouts", "cramped_room", "--horizon", "40", "--tick", "0.1", "--team", "agent_0=person"]
    with hosted(tmp_path, *texts, "agent_1=random") as links:
        page = opened(browser, links[0])
        page.wait(START, 60)
        page.run("document.getElementById('key-details').open = true")
        page.run("document.querySelector('#key-list button').click()")
        page.key("z")
        assert page.run("document.getElementById('key-list').innerText").startswith("Up: Z")
        page.run(READY)
        page.wait(PLAYING)
        page.key("Z", 0.4)  # north, by the new key
        page.key("A", 0.4)  # west, as with Caps Lock
        page.run("document.getElementById('keys-reset').click()")
        assert "Z" not in page.run("document.getElementById('key-list').innerText")
        page.wait(OVER)
        (record,) = records(tmp_path)
        assert {"north", "west"} <= {step["action_texts"][0] for step in record["steps"]}
        page.wait("!document.querySelector('[data-rematch=other]').hidden")
        page.run("document.querySelector('[data-rematch=other]').click()")
        page.wait(f"location.href !== {json.dumps(links[0])} && ({START})", 90)
        assert page.problems() == []


def test_touch_on_a_small_screen(browser, tmp_path) -> None:
    texts = ["overcooked", "--layouts", "cramped_room", "--horizon", "40", "--tick", "0.1", "--team", "agent_0=person"]
    with hosted(tmp_path, *texts, "agent_1=greedy") as links:
        page = browser.page()
        page.size(360, 640, touch=True)
        page.open(links[0])
        page.wait(START, 60)
        page.touch("#ready")
        page.wait(PLAYING)
        heights = page.run("[...document.querySelectorAll('#pad button')].map(b => b.offsetHeight)")
        assert len(heights) == 6 and min(heights) >= 44
        page.touch("[data-key=right]", 0.5)
        page.wait(OVER)
        assert page.run("document.documentElement.scrollWidth") <= 360
        (record,) = records(tmp_path)
    assert "east" in {step["action_texts"][0] for step in record["steps"]}


def test_a_game_in_turns_by_the_keyboard_alone_without_the_picture(browser, tmp_path) -> None:
    with hosted(tmp_path, *ESCAPE, "--team", "agent_0=person", "agent_1=greedy") as links:
        page = opened(browser, links[0])
        page.wait(TURN)
        page.run("document.getElementById('kitchen').style.display = 'none'")
        for _ in range(40):
            if page.run(OVER):
                break
            page.wait(f"({TURN}) || ({OVER})")
            assert page.run("document.activeElement.closest('#turn') !== null") or page.run(OVER)
            page.key("2")
            time.sleep(0.2)
        page.wait(OVER)
        assert page.run("document.activeElement.id") == "over"
        assert page.run("document.getElementById('board').getAttribute('aria-hidden')") == "true"
        records(tmp_path)


def test_two_people_talk_and_one_comes_back(browser, tmp_path) -> None:
    with hosted(tmp_path, *ESCAPE, "--team", "all=person") as links:
        one, other = opened(browser, links[0]), opened(browser, links[1])
        one.wait(TURN)
        one.run("document.getElementById('say').value = 'I go <b>left</b>'")
        one.run("document.getElementById('idle').click()")
        other.wait(TURN + " && document.getElementById('said').textContent.includes('I go <b>left</b>')")
        before = other.run("document.getElementById('turn-title').textContent")
        other.run("document.getElementById('say').value = 'half'; document.getElementById('answer').oninput()")
        other.call("Page.reload")
        other.wait(TURN)
        assert other.run("document.getElementById('turn-title').textContent") == before
        assert other.run("document.getElementById('say').value") == "half"
        again = opened(browser, links[1])
        other.wait("!document.getElementById('notice').hidden")
        again.wait(TURN)
        again.run("window.confirm = () => true; document.getElementById('leave').click()")
        one.wait(OVER)
        assert "has left" in one.text()
        assert one.problems() == []
    (aborted,) = [json.loads(line) for line in (tmp_path / "aborted.jsonl").read_text("utf-8").splitlines()]
    assert aborted["ended"] == "left"


def test_every_control_has_a_name_and_the_host_page_works(browser, tmp_path) -> None:
    with hosted(tmp_path, *ESCAPE, "--team", "all=person") as links:
        host, page = browser.page(), opened(browser, links[0])
        opened(browser, links[1])
        host.open(links[-1])
        host.wait("document.querySelectorAll('#sessions a').length === 2")
        page.wait(TURN)
        named = "e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.[0]?.textContent.trim()"
        controls = "[...document.querySelectorAll('button, input, textarea, a')].filter(e => e.offsetParent"
        unnamed = page.run(f"{controls} && !({named})).map(e => e.outerHTML)")
        assert unnamed == [] and page.run("document.documentElement.lang") == "en"
        host.run("[...document.querySelectorAll('button')].find(b => b.textContent === 'End').click()")
        page.wait(OVER)
        assert host.problems() == []


def test_a_head_chef_orders_dishes(browser, tmp_path) -> None:
    texts = [
        "craft",
        "--paces",
        "1",
        "--agents",
        "2",
        "--episodes",
        "1",
        "--set",
        "max_steps=6",
        "--team",
        "all=greedy",
    ]
    with hosted(tmp_path, *texts, "--voice") as links:
        page = opened(browser, links[0])
        page.wait(TURN, 60)
        dish = page.run("[...document.querySelectorAll('#actions button')].at(0).dataset.action")
        page.run("[...document.querySelectorAll('#actions button')].at(0).click()")
        page.run("document.getElementById('say').value = 'this one next'")
        page.run("document.getElementById('send').click()")
        for step in range(1, 6):
            page.wait(f"({TURN}) && document.body.dataset.step === '{step}'")
            page.run("document.getElementById('idle').click()")
        page.wait(OVER)
        assert page.problems() == []
        (record,) = records(tmp_path)
    assert record["steps"][0]["ordered"] == [dish] and record["steps"][0]["messages"][0]["say"] == "this one next"
    assert record["options"]["orders"][1] == dish


def test_a_german_page_shows_the_texts_of_games_in_english(browser, tmp_path) -> None:
    with hosted(tmp_path, *ESCAPE, "--team", "all=person", "--language", "de") as links:
        page = opened(browser, links[0])
        page.wait("document.getElementById('ready').textContent === 'Ich bin bereit'", 60)
        rules = page.run("document.getElementById('manual').textContent")
        assert rules == registry.load_game("CollabEscape-v0").manual()
        assert page.problems() == []


FORESEE = """(async () => {
  const { Picture } = await import('/page/picture.js');
  const made = () => { const node = document.createElement('div'), box = document.createElement('div');
    box.append(node); document.body.append(box); return node; };
  const parts = { stage: made(), panel: made(), hud: made(), orders: made() };
  const picture = new Picture({ ...parts, phrase: (t) => t, flash() {} });
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
  return seen;
})()"""


def test_own_moves_are_shown_at_once_and_taken_back_if_they_fail(browser, tmp_path) -> None:
    with hosted(tmp_path, "overcooked", "--layouts", "cramped_room", "--team", "all=person") as links:
        page = opened(browser, links[0])
        assert page.run(FORESEE) == [
            [1, "facing_east"],
            [2, "facing_east"],
            [2, "facing_east"],
            [2, "facing_east"],
            [2, "facing_east"],
            [1, "facing_west"],
            [2, "facing_east"],
            [1, "facing_west"],
            [1, "facing_west"],
        ]
