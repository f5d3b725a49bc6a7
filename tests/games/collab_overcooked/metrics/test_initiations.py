from __future__ import annotations

import pytest

from collab_overcooked.games.collab_overcooked.suite.collaboration import (
    CollaborationRun,
    Initiation,
    PlanConversation,
    PlanMessage,
    classify_initiation,
    collaboration_events,
    count_initiations,
)

REFERENCES = [[["deliver()"]], [["pickup(egg,fridge)", "cut(board)", "place()", "pickup(ham,fridge)", "place()"]]]


def events(done, *requests):
    """Score conversations in which the chef asks for some actions after the helper has done others."""
    history = tuple((t, action) for t, action in enumerate(done, start=1))
    conversations = tuple(
        PlanConversation(len(done), (PlanMessage(0, "please", "; ".join(f"request('{action}')" for action in asked)),))
        for asked in requests
    )
    run = CollaborationRun(history=((), history), conversations=conversations, success=False, timesteps=9)
    return collaboration_events(run, REFERENCES)


@pytest.mark.parametrize(
    ("done", "asked", "kind"),
    [
        ([], ["pickup(egg,fridge)"], Initiation.RIGHT),
        ([], ["pickup(egg,fridge)", "cut(board)"], Initiation.RIGHT),
        ([], ["cut(board)"], Initiation.PREMATURE),
        ([], ["pickup(ham, fridge)"], Initiation.PREMATURE),
        (["pickup(egg,fridge)"], ["place()"], Initiation.PREMATURE),
        (["pickup(egg,fridge)"], ["pickup(egg,fridge)"], Initiation.REPETITIVE),
        (["pickup(egg,fridge)", "cut(board)", "place()"], ["cut(board)"], Initiation.REPETITIVE),
        (["pickup(egg,fridge)", "cut(board)", "place()"], ["place()"], Initiation.PREMATURE),  # the second one
        ([], ["stir(blender)"], Initiation.IRRELEVANT),
        (["pickup(egg,fridge)"], [], Initiation.IRRELEVANT),
        (REFERENCES[1][0], ["place()"], Initiation.REPETITIVE),
        (REFERENCES[1][0], ["stir(blender)"], Initiation.IRRELEVANT),
        (["stir(x)"] * 3 + ["pickup(egg,fridge)"], ["cut(board)", *["stir(x)"] * 9], Initiation.IRRELEVANT),
    ],
)
def test_why_an_initiation_was_wrong(done, asked, kind):
    (event,) = events(done, asked)
    assert classify_initiation(event, REFERENCES[1]) == kind
    assert (kind == Initiation.RIGHT) == event.initiated


def test_the_reference_followed_best_decides():
    both = [REFERENCES[0], [REFERENCES[1][0], ["stir(blender)", "place()", "cut(board)"]]]
    history = ((1, "stir(blender)"),)
    conversation = PlanConversation(1, (PlanMessage(0, "please", "request('cut(board)')"),))
    run = CollaborationRun(history=((), history), conversations=(conversation,), success=False, timesteps=9)
    (event,) = collaboration_events(run, both)
    assert classify_initiation(event, both[1]) == Initiation.PREMATURE


def test_kinds_are_counted():
    result = events(["pickup(egg,fridge)"], ["cut(board)"], ["place()"], ["place()"], ["pickup(egg,fridge)"])
    assert count_initiations(result, REFERENCES) == {
        Initiation.RIGHT: 1,
        Initiation.PREMATURE: 2,
        Initiation.REPETITIVE: 1,
        Initiation.IRRELEVANT: 0,
        Initiation.IN_WORDS: 0,
    }
    assert sum(count_initiations([], REFERENCES).values()) == 0
