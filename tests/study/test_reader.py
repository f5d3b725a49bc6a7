"""Studies as they are read: shipped ones can be run, what cannot work is refused with its line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from study.world import QUICK, changed

from collab_overcooked import registry
from collab_overcooked.io.documents import DocumentError, builtin_names
from collab_overcooked.policies.llm.settings import parse_settings
from collab_overcooked.study.design import FOLDER
from collab_overcooked.study.reader import default_per_network, read_study


@pytest.mark.parametrize("name", builtin_names(FOLDER))
def test_shipped_studies_can_be_run(name: str) -> None:
    result = read_study(name)
    groups = result.limit // result.group
    for group in range(groups):
        assert len(result.steps(group)) == len(result.steps(0))
        for condition in result.conditions.values():
            assert len({match.seed for match in condition.draw(result.seed, group)}) == condition.episodes


def test_the_shipped_protocols_are_the_papers() -> None:
    """Five conditions of one person each; five pairs with two of the tasks of each of six levels."""
    alone = read_study("mindagent_partners")
    assert [len(condition.matches[0].team) for condition in alone.conditions.values()] == [
        1,
        2,
        3,
        4,
        2,
    ] and alone.limit == 12
    assert parse_settings(alone.partners["commander"].removeprefix("llm:")).temperature == 0.1  # appendix C
    items = {item.name: item.ask for item in alone.forms["teamwork"].items}
    assert items["dependence"].startswith("What I did next depended on what my partners")
    assert "How many partners" in items["agents"]  # the manipulation check
    pairs = read_study("collab_overcooked_pairs")
    assert (pairs.limit, pairs.group, len(pairs.conditions)) == (10, 2, 6)
    drawn = [match for entry in pairs.conditions.values() for match in entry.draw(0, 3)]
    rules = registry.presets()["collab-paper"].options
    assert all(rules.items() <= {"action_level": "medium", **match.env_kwargs}.items() for match in drawn)
    free = [entry.draw(0, 1)[0].env_kwargs.get("talk") for entry in read_study("cots_partner").conditions.values()]
    assert free == ["free", None], "searching costs no step, as in the original"
    assert len(drawn) == len({match.task for match in drawn}) == 12 and [match.level for match in drawn[::2]] == list(
        range(1, 7)
    )


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (("title",), 3, "title must be a text, not 3"),
        (("colour",), "red", "unknown key 'colour'"),
        (("participants", "group"), 2, "has 1 seats of people (person), but participants.group is 2"),
        (("participants", "id"), "my id", "must be the name of an address parameter"),
        (("participants", "id"), "id", "must be a name that neither exports nor the consent page use, not 'id'"),
        (("participants", "keep"), ["STUDY", "id"], "keep.1 must be a name that neither exports nor the consent page"),
        (("participants", "keep"), ["group"], "must be a name that neither exports nor the consent page use"),
        (("participants", "keep"), ["seconds_1"], "must be a name that neither exports nor the consent page use"),
        (("participants", "keep"), ["agree"], "must be a name that neither exports nor the consent page use"),
        (("participants", "keep"), ["STUDY", "PID"], "participants.keep.1: 'PID' is the name of participants.id"),
        (("participants", "keep"), ["STUDY", "STUDY"], "participants.keep.1: 'STUDY' is listed twice"),
        (("finish", "done", "code"), "C-{}", "unknown value in finish.done.code ''"),
        (("partners", "mate"), "gredy", "did you mean greedy"),
        (("partners", "mate"), "person", "cannot be a partner"),
        (("play", "show"), "film", "must be one of both, picture, words, not 'film'"),
        (("play", "colour"), 1, "unknown key 'colour'; known: "),
        (("conditions", "helped", "suite"), "rusch", "did you mean rush"),
        (("conditions", "helped", "options", "scenario"), ["easi"], "easi"),
        (("conditions", "helped", "options", "scenario"), {"easy": 1}, "options.scenario must be a list of entries"),
        (("conditions", "helped", "options", "episodes"), "1", "options.episodes must be an integer, not '1'"),
        (("conditions", "helped", "team"), ["agent_0=person"], "no policy for agent_1"),
        (("conditions", "unused"), QUICK["conditions"]["helped"], "conditions.unused is in no block"),
        (("blocks", 2, "play"), ["helped", "hinderd"], "blocks.2.play.1 must be one of helped, hindered"),
        (("blocks", 2, "order"), "even", "blocks.2.order must be one of balanced, latin, random, fixed, between"),
        (
            ("blocks",),
            [{"form": "before"}, {"play": ["helped", "hindered"], "after": "liked"}, {"play": ["helped"]}],
            "conditions.helped: is played in 2 blocks, but may be in one",
        ),
        (("blocks", 2, "after"), "hated", "blocks.2.after must be one of"),
        (("blocks", 0), {"page": {"title": "a", "text": "b"}, "form": "before"}, "must have one of page, form, play"),
        (("forms", "liked", "items", 0, "likert"), 1, "must be an integer from 2 to 11"),
        (("forms", "liked", "items", 0, "choice"), ["a"], "must have one of likert, choice"),
        (("forms", "liked", "items", 0, "expect"), 6, "forms.liked.items.0.expect must be among 1, 2, 3, 4, 5, not 6"),
        (("forms", "before", "items", 0, "expect"), 9, "expect must be an integer from 18 to 99"),
        (("forms", "liked", "within"), 2, "forms.liked.within must be an integer from 5"),
        (("blocks", 0, "page", "seconds"), -1, "seconds must be an integer from 0"),
        (("participants", "per_network"), 0, "per_network must be an integer of at least 1"),
        (("participants", "idle"), 5, "participants.idle must be"),
        (("forms", "liked", "items", 1, "name"), "fun", "is the name of two questions"),
        (("forms", "liked", "items", 1, "name"), "no name", "must be a name of at most 40 letters"),
        (("forms", "before", "items", 0, "number"), [9, 1], "the smallest and the largest number"),
        (("finish", "done", "url"), "javascript:alert(1)", "must be an address that starts with https://"),
        (("finish", "done", "url"), "https://a.org/{token}", "unknown value in finish.done.url 'token'"),
        (("finish", "dune"), {}, "did you mean done"),
        (("bonus",), {"most": 2}, "bonus must have one or several of per_point, per_round, fixed"),
        (("bonus",), {"per_rounds": 1, "most": 2}, "unknown key 'per_rounds'; did you mean per_round"),
        (("bonus",), {"per_round": -1, "most": 2}, "bonus.per_round must be a number of at least 0, not -1"),
        (("play", "fullscreen"), "yes", "fullscreen must be true or false, not 'yes'"),
        (("play", "fullscren"), True, "did you mean fullscreen"),
        (("words",), {"send": "Senden {0}"}, "must contain no braces other than: none"),
    ],
)
def test_what_cannot_work_is_refused(path: tuple[Any, ...], value: Any, complaint: str) -> None:
    with pytest.raises(DocumentError) as error:
        read_study(changed(*path, to=value))
    assert complaint in str(error.value)


@pytest.mark.parametrize(
    ("path", "value", "line", "complaint"),
    [
        (("conditions", "helped", "options", "scenario"), [3], "scenario:", "[0] must be a text, not 3"),
        (("conditions", "helped", "options", "episodes"), "1", "episodes: '1'", "must be an integer, not '1'"),
        (("conditions", "helped", "options", "scenario"), ["easi"], "scenario:", "did you mean easy?"),
        (("conditions", "helped", "options", "epsodes"), 1, "epsodes: 1", "did you mean episodes?"),
        (("conditions", "helped", "set"), {"max_cycles": "x"}, "max_cycles: x", "not 'x'"),
        (
            ("conditions", "helped", "limits"),
            {"max_messages": -1},
            "max_messages: -1",
            "an integer from 0 to 1000, not -1",
        ),
        (("conditions", "helped", "limits"), {"max_message": 1}, "max_message: 1", "did you mean max_messages"),
        (("conditions", "helped", "team"), ["agent_0=person"], "team:", "no policy for agent_1"),
        (("conditions", "helped", "suite"), "rusch", "suite: rusch", "did you mean rush?"),
        (("conditions", "helped", "play"), {"tick": "fast"}, "tick: fast", "a number from 0.03 to 10"),
        (("play", "show"), "film", "show: film", "must be one of both, picture, words, not 'film'"),
    ],
)
def test_errors_name_the_line_and_the_file_once(
    path: tuple[Any, ...], value: Any, line: str, complaint: str, tmp_path: Path
) -> None:
    text = yaml.safe_dump(changed(*path, to=value), sort_keys=False)
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(DocumentError) as error:
        read_study(tmp_path / "mine.yaml")
    message = str(error.value)
    number = next(i for i, entry in enumerate(text.splitlines(), 1) if entry.strip().startswith(line))
    assert message.startswith(f"mine.yaml, line {number}: ") and complaint in message
    assert message.count("mine.yaml") == 1 and not re.search(r"NoneType|tuple|\bint\b|\bstr\b", message)


def test_partners_can_be_replaced() -> None:
    result = read_study(QUICK, {"mate": "random"})
    assert result.conditions["helped"].matches[0].team == ("person", "random")
    with pytest.raises(ValueError, match="unknown partner of the study 'mat'; did you mean mate"):
        read_study(QUICK, {"mat": "random"})


@pytest.mark.parametrize(("limit", "group", "most"), [(4, 1, 2), (8, 1, 2), (12, 2, 4), (100, 1, 25), (500, 2, 60)])
def test_one_network_takes_a_share_of_the_places(limit: int, group: int, most: int) -> None:
    assert default_per_network(limit, group) == most


def test_a_study_teaches_participants_nothing_unless_it_says_so() -> None:
    for play, expected in (({}, False), ({"replay": True, "metrics": True}, True)):
        study = read_study(QUICK | {"play": play})
        assert {shown for c in study.conditions.values() for shown in (c.settings.replay, c.settings.metrics)} == {
            expected
        }


KITCHEN = {
    "label": "A",
    "suite": "overcooked",
    "team": ["agent_0=person", "agent_1=greedy"],
    "options": {"layouts": "cramped_room"},
}


@pytest.mark.parametrize(
    ("play", "condition", "complaint"),
    [
        ({}, {"limits": {"max_messages": 2}}, "conditions.helped.limits.max_messages must be 0 in real time"),
        ({}, {"play": {"decide_within": 5}}, "conditions.helped.play.decide_within must be left out in real time"),
        ({"decide_within": 5}, {}, "play.decide_within must be left out in real time"),
        ({"decide_within": 5}, {"play": {"decide_within": None}}, ""),
        ({}, {"limits": {"max_messages": 0, "max_corrections": 2, "max_chars": 9}}, ""),
        ({"clock": "turns", "decide_within": 5}, {"limits": {"max_messages": 2}}, ""),
    ],
)
def test_limits_of_questions_and_answers_are_refused_in_real_time(
    play: dict[str, Any], condition: dict[str, Any], complaint: str
) -> None:
    content = changed("conditions", "helped", to=KITCHEN | condition) | {"play": play}
    content["blocks"][2]["match"] = "none"
    if not complaint:
        assert read_study(content).conditions["helped"].suite == "overcooked"
        return
    with pytest.raises(DocumentError) as error:
        read_study(content)
    assert complaint in str(error.value)


@pytest.mark.parametrize(
    ("order", "hint"),
    [
        ("williams", " (did you mean balanced?), not 'williams'"),
        ("latin_square", " (did you mean latin?), not 'latin_square'"),
        ("ABBA", ", not 'ABBA'"),
        ([], ", not []"),
    ],
)
def test_orders_of_other_tools_are_refused_with_the_name_here(order: Any, hint: str) -> None:
    with pytest.raises(DocumentError) as error:
        read_study(changed("blocks", 2, "order", to=order))
    assert f"blocks.2.order must be one of balanced, latin, random, fixed, between{hint}" in str(error.value)


@pytest.mark.parametrize("language", ["de", "fr"])
def test_a_translation_of_the_waiting_room_holds_for_pairs_and_larger_groups(language: str) -> None:
    both = "Encore {others}."
    study = read_study(QUICK | {"language": language, "words": {"waiting_text": both}})
    assert study.texts["waiting_one"] == study.texts["waiting_text"] == both
    study = read_study(QUICK | {"language": language, "words": {"waiting_text": both, "waiting_one": "Encore une."}})
    assert study.texts["waiting_one"] == "Encore une."


def test_texts_of_refusals_are_read_where_version_1_0_0_wrote_them() -> None:
    study = read_study(QUICK | {"words": {"full": "Come back in May."}})
    assert study.ends["full"].text == "Come back in May."
    both = QUICK | {"words": {"full": "Come back in May."}, "finish": {"full": {"text": "We have enough."}}}
    assert read_study(both).ends["full"].text == "We have enough."
