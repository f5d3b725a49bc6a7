"""Communication of a team by text messages: what they are worth, and what they say of what others do not know.

What messages say is measured in the records. Their value needs policies that can be asked again: the episodes are
played again from their seeds, while the others hear nothing, or what was said in another episode.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.core.record import EpisodeRecord, MessageEntry
from collab_overcooked.evaluation.communication_result import (
    MUTED,
    SCRAMBLED,
    WITH,
    Communication,
    check_count,
    private_keys,
    replay_arguments,
)
from collab_overcooked.metrics.communication import Signalling, signalling
from collab_overcooked.metrics.intervals import mean_ci
from collab_overcooked.metrics.paired import paired_difference
from collab_overcooked.metrics.registry import episode_return
from collab_overcooked.policies.api import Message
from collab_overcooked.policies.registry import HUMAN
from collab_overcooked.policies.specs import PolicySpec
from collab_overcooked.reporting.talk import deliveries, words_of
from collab_overcooked.runner.conversation import Replace
from collab_overcooked.runner.env_variants import variant_of
from collab_overcooked.runner.episode import Answers, Episode, drive
from collab_overcooked.runner.match import cached_env
from collab_overcooked.runner.replay import replay
from collab_overcooked.runner.teams import MakePolicy, make_team, team_text

KIND, NAME = "kind of message", "name in it"
NOTE_VALUE = (
    "Value: return of the recorded episodes less that of the same seeds when nobody hears the messages (muted) or when "
    "each is replaced by one that the same seat sent in the next episode of the run (scrambled). Senders do not know."
)
NOTE_PEOPLE = (
    "Value and listening do not apply: people cannot be asked again. What messages say and words per delivery need no "
    "second play."
)
NOTE_LISTENING = "Listening does not apply to text messages."
NOTE_CODES = (
    "Symbols: the messages of a seat before a step, coded in two ways. Kind: silence, words only, words with a plan, "
    "or words with a request or a question. Name: silence, the first word of the message that occurs in some values of "
    "that private state in the run and not in all, or no such word. Bits are mutual information as counted, beside a "
    "null with states of other episodes; p is the share of such nulls at least as high."
)
_WORD = re.compile(r"[^\W_]+")


def has_words(records: Sequence[EpisodeRecord]) -> bool:
    """Return whether a seat says anything in any of the records."""
    return any(message.say for record in records for message in _sent(record))


def measure_text(records: Sequence[EpisodeRecord], make: MakePolicy) -> Communication:
    """Measure the text messages of a team in one variant of a game.

    Args:
        records: Records of at least two episodes.
        make: Factory of policies.

    Raises:
        ValueError: There are fewer than two episodes.
    """
    first = records[0]
    check_count(records)
    totals = {WITH: [episode_return([step.rewards for step in record.steps]) for record in records]}
    has_people = any(PolicySpec.parse(spec).kind == HUMAN for spec in first.specs)
    if not has_people:
        totals |= {name: [] for name in (MUTED, SCRAMBLED)}
        for k, (record, arguments) in enumerate(zip(records, replay_arguments(records), strict=True)):
            totals[MUTED].append(_play(record, arguments, make, lambda message: None))
            totals[SCRAMBLED].append(_play(record, arguments, make, _foreign(records[(k + 1) % len(records)])))
    values = {}
    for name in totals.keys() - {WITH}:
        values[name] = paired_difference([list(zip(totals[WITH], totals[name], strict=True))])
    count, words = deliveries(records), words_of(records)
    returns = {name: mean_ci(of_episodes) for name, of_episodes in totals.items()}
    limits = [NOTE_PEOPLE] if has_people else [NOTE_VALUE, NOTE_LISTENING]
    return Communication(
        title=variant_of(first).title,
        team=team_text(first.specs),
        returns=returns,
        values=values,
        signalling=_signalling(records),
        listening={},
        words=(words, count, words / count if count else None),
        notes=(*limits, NOTE_CODES),
    )


def _sent(record: EpisodeRecord) -> list[MessageEntry]:
    messages = (message for step in record.steps for message in step.messages)
    return [message for message in messages if message.agent is not None and message.say]


def _foreign(other: EpisodeRecord) -> Replace:
    """Return a function that gives, for each message of a seat, the next one of that seat in another episode."""
    left: dict[int | None, list[MessageEntry]] = defaultdict(list)
    for message in reversed(_sent(other)):
        left[message.agent].append(message)

    def replaced(message: Message) -> Message | None:
        if not left[message.agent]:
            return None
        heard = left[message.agent].pop()
        return Message(message.agent, heard.say, heard.plan)

    return replaced


def _play(record: EpisodeRecord, arguments: Mapping[str, Any], make: MakePolicy, replaced: Replace) -> float:
    """Play an episode again while others hear something else; returns its return."""
    limit = {"max_cycles": record.max_cycles} if record.max_cycles_given else {}
    env = cached_env(record.env_id, {**record.env_kwargs, **limit})
    run = Episode(env, record.specs, record.seed, **arguments, replaced=replaced)
    with Answers(make_team(record.specs, make)) as answers:
        return episode_return([step.rewards for step in drive(run, answers.to).steps])


def _signalling(records: Sequence[EpisodeRecord]) -> dict[tuple[str, str], Signalling]:
    """Measure what the messages of each seat say of each part of its private state, in both codes."""
    states: list[list[list[dict[str, str]]]] = []
    private: dict[int, set[str]] = defaultdict(set)
    names: tuple[str, ...] = ()
    for record in records:
        known, keys, names = _known(record)
        states.append(known)
        for seat, found in keys.items():
            private[seat] |= found
    sent_by = {message.agent for record in records for message in _sent(record)}
    measured: dict[tuple[str, str], Signalling] = {}
    for seat in sorted(seat for seat in sent_by if seat is not None):
        sent = [[_before(step.messages, seat) for step in record.steps] for record in records]
        for key in sorted(private[seat]):
            own = [[known[seat].get(key, "") for known in steps] for steps in states]
            values = {text for steps in own for text in steps}
            words = [{word.lower() for word in _WORD.findall(text)} for text in values]
            telling = set.union(*words) - set.intersection(*words)
            codes = {word: 2 + k for k, word in enumerate(sorted(telling))}
            kinds = [[_kind(messages) for messages in steps] for steps in sent]
            named = [[_name(messages, codes) for messages in steps] for steps in sent]
            measured[names[seat], f"{key}, {KIND}"] = signalling(kinds, own)
            measured[names[seat], f"{key}, {NAME}"] = signalling(named, own)
    return measured


def _known(record: EpisodeRecord) -> tuple[list[list[dict[str, str]]], dict[int, set[str]], tuple[str, ...]]:
    """Return what each seat knows before each step by key, the keys that some other does not know, and the names."""
    known: list[list[dict[str, str]]] = []
    private: dict[int, set[str]] = defaultdict(set)
    names: tuple[str, ...] = ()
    for at in replay(record):
        if at.timestep == len(record.steps):
            break  # a state in which nobody chose
        game, names = at.env.game, at.env.game.display_names
        scene = game.scene(at.env.arrays[0], 0)
        seats = range(game.n_agents)
        recipes = [game.seen(at.env.arrays[0], 0, seat).recipe for seat in seats]
        scenes = [{**game.seat_scene(scene, seat), "recipe": recipes[seat]} for seat in seats]
        for seat in seats:
            private[seat] |= private_keys(scenes, seat)
        known.append([{key: json.dumps(value) for key, value in scene_of_seat.items()} for scene_of_seat in scenes])
    return known, private, names


def _before(messages: Sequence[MessageEntry], seat: int) -> list[MessageEntry]:
    return [message for message in messages if message.agent == seat and message.say]


def _kind(messages: Sequence[MessageEntry]) -> int:
    """Return 0 for silence, 1 for words only, 2 for words with a plan, 3 for a request or a question."""
    if any("request(" in message.plan or "?" in message.say for message in messages):
        return 3
    return 2 if any(message.plan for message in messages) else int(bool(messages))


def _name(messages: Sequence[MessageEntry], codes: dict[str, int]) -> int:
    """Return 0 for silence, the code of the first known word, and 1 for messages without one."""
    words = (word.lower() for message in messages for word in _WORD.findall(message.say))
    return next((codes[word] for word in words if word in codes), int(bool(messages)))
