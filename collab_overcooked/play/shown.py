"""Messages about a state of the game to pages: parts of ``AgentView`` that the settings choose, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from collab_overcooked.core.record import Step
from collab_overcooked.game_spec import LEGAL, VOCABULARY
from collab_overcooked.io.checks import near_matches
from collab_overcooked.play.menus import late_last, without_duplicates
from collab_overcooked.play.people import FRAME, SendQueue
from collab_overcooked.play.settings import PlaySettings
from collab_overcooked.policies.api import AgentView, Message
from collab_overcooked.reporting.naming import page_names, renaming
from collab_overcooked.reporting.pictures import SPRITE, difference, picture_of

MAX_BLOCKED = 200  # refused actions whose reasons a page is sent
LAST_EVENTS = 12  # of each seat's history that a page is sent


def frame_of(
    game: Any, seen: AgentView, settings: PlaySettings, send_queue: SendQueue, with_text: bool = True
) -> dict[str, Any]:
    """Return a frame for a seat's page.

    Args:
        game: Compiled game.
        seen: What the seat may know.
        settings: What is shown.
        send_queue: The connection that it is for; keeps what the page will have.
        with_text: Whether to include the text; in real time only pages that want it get it.
    """
    view = seen.view
    frame: dict[str, Any] = {"type": FRAME, "timestep": seen.timestep, "limit": view.limit}
    if settings.show != "picture" and (with_text or settings.show == "words"):
        frame |= {"text": renaming(game)(view.surroundings), "orders": list(view.orders), "recipe": view.recipe}
    if settings.show != "words":
        frame["picture"] = next_picture(game, view.scene, seen.seat, send_queue)
    return frame


def next_picture(game: Any, scene: dict[str, Any], seat: int | None, send_queue: SendQueue) -> dict[str, Any]:
    """Return the difference from the page's picture to the picture of a scene, and note that it was sent."""
    before, after = send_queue.picture, picture_of(game, scene, seat)
    send_queue.picture = _sprites(before) | after
    return difference(before, after)


def begin_anew(send_queue: SendQueue) -> None:
    """Note that a page forgets all but the sprites, as a whole frame follows."""
    send_queue.picture = _sprites(send_queue.picture)


def _sprites(picture: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in picture.items() if key.startswith(SPRITE)}


def question_of(
    seen: AgentView, kind: str, turn: int, settings: PlaySettings, named: Callable[[str], str] = str
) -> dict[str, Any]:
    """Return the question to a person: a decision, or a reply to the last message.

    Args:
        seen: What the seat may know.
        kind: ``"act"`` or ``"reply"``.
        turn: Number of the question.
        settings: What is shown.
        named: Puts the names of pages into a text of the game.
    """
    labels, texts = seen.view.action_labels, seen.view.action_texts
    late = {labels[texts[action]] for action in seen.view.unlikely}
    legal = late_last([labels[text] for text in seen.legal_actions], late)
    payments = {labels[texts[action]] for action in seen.view.payments}
    walks = [labels[texts[action]] for action in seen.view.walks]
    waits = [labels[texts[action]] for action in seen.view.waits]
    requests = {} if settings.menu == "none" else seen.view.requests
    actions: list[str] = []
    if settings.menu == LEGAL:
        actions = without_duplicates([label for label in legal if label not in payments])
    elif settings.menu == VOCABULARY:
        actions = [labels.get(text, text) for text in seen.view.vocabulary]
    return {
        "type": "ask",
        "turn": turn,
        "kind": kind,
        "timestep": seen.timestep,
        "actions": actions,
        "legal": legal if settings.menu != "none" else [],
        "requests": {text: requests[text] for text in late_last(list(requests))},
        "late": [label for label in legal if label in late],
        "walks": [label for label in legal if label in walks],
        "waits": [label for label in waits if label in legal],
        "blocked": _blocked(seen, named) if settings.menu != "none" else {},
        "idle": labels[texts[seen.idle_action]],
        "plan": list(seen.plan),
        "announced": [list(plan) for plan in seen.announced],
        "inbox": talk_of(seen.inbox),
        "error": [seen.error[0], named(seen.error[1])] if seen.error else None,
        "attempt": seen.attempt,
        "refused": [list(refusal) for refusal in seen.refused],
        "earlier": [[seat, labels.get(text, text)] for seat, text in seen.earlier],
        "history": [[list(event) for event in events[-LAST_EVENTS:]] for events in seen.history],
        "feedback": named(seen.feedback),
    }


def _blocked(seen: AgentView, named: Callable[[str], str]) -> dict[str, str]:
    """Return the reasons of refused actions by label, at most ``MAX_BLOCKED``."""
    refusals = list(seen.view.refusals.items())[:MAX_BLOCKED]
    return {seen.view.action_labels[text]: named(reason) for text, reason in refusals}


def voice_question(turn: int, timestep: int, orders: Sequence[str]) -> dict[str, Any]:
    """Return the question to a voice without a seat: a message for all, and orders if the game takes any."""
    known = list(orders)
    return {
        "type": "ask",
        "turn": turn,
        "kind": "voice",
        "timestep": timestep,
        "actions": known,
        "legal": known,
        "inbox": [],
    }


def read_orders(known: Sequence[str], text: str) -> list[str]:
    """Return the orders that a text names, parted by semicolons or lines, in whatever case.

    Raises:
        ValueError: An order is unknown.
    """
    names = {name.lower(): name for name in known}
    chosen = [part.strip().lower() for line in text.splitlines() for part in line.split(";") if part.strip()]
    for name in chosen:
        if name not in names:
            raise ValueError(near_matches("order", name, known) if known else "nothing can be ordered in this game")
    return [names[name] for name in chosen]


def talk_of(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return messages as JSON values."""
    return [message.to_dict() for message in messages]


def watched(env: Any, step: Step | None, timestep: int, send_queue: SendQueue) -> dict[str, Any]:
    """Return a frame of the whole state, for a watcher."""
    game, state = env.game, env.arrays[0]
    frame: dict[str, Any] = {"type": FRAME, "timestep": timestep, "limit": env.max_cycles}
    frame["picture"] = next_picture(game, game.scene(state, 0), None, send_queue)
    if step is not None:
        labels = [game.seen(state, 0, seat).action_labels for seat in range(game.n_agents)]
        done = [names.get(text, text) for names, text in zip(labels, step.action_texts, strict=True)]
        frame |= {"text": "\n".join(f"{name}: {text}" for name, text in zip(page_names(game), done, strict=True))}
    return frame


def news_of(step: Step, view: Any, seat: int, named: Callable[[str], str] = str) -> list[list[Any]]:
    """Return what a seat knows of the last step: the events of seats, then the orders that ended.

    Args:
        step: Step.
        view: What the seat may know after it.
        seat: Index of the agent.
        named: Puts the names of pages into a text of the game.

    Returns:
        Of each its change of the team's result (1, -1 or 0), the seat (None for an order), a label, and what it brought
        about.
    """
    events = enumerate(step.events)
    known = [(k, event) for k, event in events if event is not None and (k == seat or view.public_history)]
    acts = [[e.change, k, named(view.event_label(e.label)), named(view.consequence(e))] for k, e in known]
    return [*acts, *([change, None, named(name), ""] for change, name in step.order_changes)]
