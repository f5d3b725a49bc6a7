"""Reading and validation of study files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any

from collab_overcooked import registry
from collab_overcooked.evaluation.suites import plan_known_team
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.documents import Document, DocumentError, field_name, load_layout
from collab_overcooked.io.text import one_line
from collab_overcooked.play.matches import IN_REAL_TIME, ignored_in_real_time
from collab_overcooked.play.settings import LANGUAGES, PlaySettings
from collab_overcooked.policies.registry import PERSON
from collab_overcooked.policies.specs import PolicySpec
from collab_overcooked.runner.episode import Limits
from collab_overcooked.runner.match import Match
from collab_overcooked.study.columns import COLUMNS_OF, SECONDS
from collab_overcooked.study.design import (
    BETWEEN,
    ENDS,
    FOLDER,
    KEYS,
    MATCHES,
    MINUTES,
    NONE,
    PARTICIPANTS,
    REFUSALS,
    TASKS,
    YOKED,
    Block,
    Bonus,
    Condition,
    End,
    Needs,
    Study,
)
from collab_overcooked.study.factors import CELLS, CONDITION_KEYS, Levels, expand_factors, split_cells
from collab_overcooked.study.forms import (
    MAX_SECONDS,
    FormReader,
    Questionnaire,
    ShowIf,
    check_name,
    check_show_if,
    read_show_if,
)
from collab_overcooked.study.media import MEDIA_KEYS, MediaReader
from collab_overcooked.study.order import ORDERS
from collab_overcooked.study.texts import PAGE_TEXTS, PLACEHOLDER, blanks, default_texts


def read_study(source: str | Path | Mapping[str, Any], partners: Mapping[str, str] | None = None) -> Study:
    """Read and validate a study.

    Args:
        source: Name of a built-in study, path of a YAML file, or its values.
        partners: Policy specs that override those of partners, by name.
    """
    doc = load_layout(source, FOLDER, "study")
    doc.mapping(only=KEYS)
    name = "study"
    folder = None
    if isinstance(source, (str, Path)):
        path = Path(source)
        name = path.stem
        if path.suffix in (".yaml", ".yml"):
            folder = path.parent
    reserved = {column: table for table, names in COLUMNS_OF.items() for column in names}
    expanded, levels = expand_factors(doc, reserved)
    return replace(_Reader(expanded, partners or {}, folder, levels).study(name), content=doc.content)


class _Reader:
    """Reader of one study file."""

    def __init__(
        self, doc: Document, partners: Mapping[str, str], folder: Path | None, levels: Mapping[str, Levels]
    ) -> None:
        self.doc = doc
        self.chosen = partners
        self.media = MediaReader(doc, folder)
        self.levels = levels

    def study(self, name: str) -> Study:
        doc = self.doc
        doc.mapping("participants", only=PARTICIPANTS, default={})
        limit = doc.integer("participants", "limit", default=500, low=1, high=100_000)
        seed = doc.integer("seed", default=0)
        group = doc.integer("participants", "group", default=1, low=1, high=8)
        partners = self._partners()
        forms = FormReader(doc, self.media).forms()
        conditions = self._conditions(seed, group, partners)
        blocks = self._blocks(conditions, forms)
        return Study(
            name=name,
            title=one_line(doc.text("title")),
            language=self._language(),
            seed=seed,
            consent=doc.text("consent"),
            boxes=self._boxes(),
            needs=self._needs(),
            debrief=doc.text("debrief", default=""),
            bonus=self._bonus(conditions),
            panel_id=self._parameter("participants", "id"),
            keep=self._keep(),
            limit=limit,
            quota=self._quota(conditions),
            margin=doc.integer("participants", "margin", default=group, high=100_000),
            idle=doc.number("participants", "idle", default=1800, low=60),
            per_network=doc.integer("participants", "per_network", default=default_per_network(limit, group), low=1),
            failed_checks=doc.integer("participants", "failed_checks", default=None, low=1),
            group=group,
            wait=doc.number("participants", "wait", default=180, low=5),
            minutes=doc.number("participants", "minutes", default=None, low=1),
            retention=self._retention(),
            partners=partners,
            conditions=self._with_draws(conditions, blocks),
            blocks=blocks,
            forms=forms,
            ends=self._ends(),
            texts=self._page_texts(),
            files=self.media.files,
            content=doc.content,
        )

    def _boxes(self) -> tuple[str, ...]:
        boxes = self.doc.listed("statements", "boxes", default=[])
        return tuple(one_line(self.doc.text("boxes", i)) for i in range(len(boxes)))

    def _quota(self, conditions: Iterable[str]) -> dict[str, int]:
        doc, path = self.doc, ("participants", "quota")
        if not isinstance(doc.at(*path), dict):
            quota = doc.integer(*path, default=None, low=1, high=100_000)
            return {} if quota is None else dict.fromkeys(conditions, quota)
        names = doc.mapping(*path, only=tuple(conditions))
        return {name: doc.integer(*path, name, low=0, high=100_000) for name in names}

    def _retention(self) -> str:
        text = self.doc.text("retention", default="")
        try:
            return text and date.fromisoformat(text).isoformat()
        except ValueError:
            raise self.doc.refuse("be a date such as 2030-12-31", "retention") from None

    def _needs(self) -> Needs:
        doc = self.doc
        doc.mapping("needs", only=("width", "keyboard", "mouse"), default={})
        width = doc.integer("needs", "width", default=0, high=10_000)
        return Needs(width, doc.boolean("needs", "keyboard"), doc.boolean("needs", "mouse"))

    def _bonus(self, conditions: Mapping[str, Condition]) -> Bonus | None:
        doc, sums = self.doc, ("per_point", "per_round", "fixed")
        paid = doc.mapping("bonus", only=(*sums, "tasks", "most"), default={})
        if not paid:
            return None
        if not set(sums) & paid.keys():
            raise doc.refuse(f"have one or several of {', '.join(sums)}", "bonus")
        tasks = list(dict.fromkeys(match.task for condition in conditions.values() for match in condition.matches))

        def check_task(doc: Document, name: object, *place: Any) -> None:
            doc.choice(tasks, *place)

        rewarded = doc.names(check_task, "bonus", "tasks") if "tasks" in paid else ()
        amounts = {name: doc.number("bonus", name, default=0.0, low=0) for name in sums}
        return Bonus(doc.number("bonus", "most", low=0), **amounts, tasks=tuple(rewarded))

    def _language(self) -> str:
        return self._matching(r"[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*", "be a code such as en", "language") or "en"

    def _matching(self, pattern: str, requirement: str, *path: Any) -> str:
        text = self.doc.text(*path, default="")
        if text and not re.fullmatch(pattern, text):
            raise self.doc.refuse(requirement, *path)
        return text

    def _keep(self) -> tuple[str, ...]:
        path = ("participants", "keep")
        taken = {self.doc.at("participants", "id"): "the name of participants.id"}
        names: list[str] = []
        for i in range(len(self.doc.listed("address parameters", *path, default=[]))):
            names.append(self._parameter(*path, i))
            if names[i] in taken:
                raise self.doc.error(f"{field_name((*path, i))}: {names[i]!r} is {taken[names[i]]}", *path, i)
            taken[names[i]] = "listed twice"
        return tuple(names)

    def _parameter(self, *path: Any) -> str:
        """Return the name of an address parameter; exports have it as a column, and the consent page as a field."""
        name = self._matching(_PARAMETER, "be the name of an address parameter", *path)
        factors = next(iter(self.levels.values()), {})
        fields_of_consent = ("agree", *(f"box{i}" for i in range(len(self._boxes()))))
        if name in (*COLUMNS_OF["participants"], *factors, *fields_of_consent) or name.startswith(SECONDS):
            raise self.doc.refuse("be a name that neither exports nor the consent page use", *path)
        return name

    def _partners(self) -> dict[str, str]:
        doc = self.doc
        names = doc.mapping("partners", default={})
        partners = {check_name(doc, name, "partners", name): doc.text("partners", name) for name in names}
        for name, spec in self.chosen.items():
            if name not in partners:
                raise ValueError(near_matches("partner of the study", name, partners))
            partners[name] = spec
        for name, spec in partners.items():
            try:
                check_partner(spec)
            except ValueError as error:
                raise doc.error(f"partners.{name}: {error}", "partners", name) from None
        return partners

    def _conditions(self, seed: int, group: int, partners: Mapping[str, str]) -> dict[str, Condition]:
        doc = self.doc
        names = doc.mapping("conditions")
        conditions = {
            check_name(doc, name, "conditions", name): self._condition(name, seed, partners) for name in names
        }
        together = any(condition.people == group for condition in conditions.values())
        for name, condition in conditions.items():
            if condition.people == group or (together and condition.people == 1 and not condition.voice):
                continue
            raise doc.error(
                f"conditions.{name}.team: has {condition.matches[0].team.count(PERSON)} seats of people ({PERSON})"
                f"{' and a voice' if condition.voice else ''}, but participants.group is {group}",
                "conditions",
                name,
                "team",
            )
        return conditions

    def _condition(self, name: str, seed: int, partners: Mapping[str, str]) -> Condition:
        doc, path = self.doc, ("conditions", name)
        doc.mapping(*path, only=CONDITION_KEYS)
        seats = len(doc.listed("seat=policy entries", *path, "team"))
        team = [self._with_partner(doc.text(*path, "team", i), partners) for i in range(seats)]
        suite = doc.text(*path, "suite")
        try:
            options = doc.mapping(*path, "set", default={})
            limits = doc.mapping(*path, "limits", only=[limit.name for limit in fields(Limits)], default={})
            plan = plan_known_team(
                suite,
                team,
                seed=seed,
                options=options,
                limits=Limits(**limits),
                **{str(key): value for key, value in doc.mapping(*path, "options", default={}).items()},
            )
            team_of_first = plan.matches[0].team  # some suites also swap the seats
            # without the suite's repetitions, as every match that is drawn has a seed of its own
            matches = tuple(match for match in plan.templates if match.team == team_of_first)
            for spec in dict.fromkeys(team_of_first):
                if spec != PERSON:
                    check_partner(spec)
        except DocumentError:
            raise
        except (ValueError, TypeError) as error:
            raise self._placed(error, path, "options", "set", "limits", "team", "suite") from None
        voice = doc.boolean(*path, "voice")
        if voice and not matches[0].limits.max_messages:
            raise doc.refuse("be false where limits.max_messages is 0: nobody would hear the voice", *path, "voice")
        label = one_line(doc.text(*path, "label", default=doc.text("title")))
        episodes = doc.integer(*path, "episodes", default=1, low=1, high=200)
        settings = self._play(path)
        self._check_real_time(path, matches[0], settings)
        repeats = registry.load_suite(plan.suite).repeats
        asked = doc.at(*path, "options", repeats)
        return Condition(
            name,
            label,
            plan.suite,
            matches,
            episodes,
            settings,
            voice,
            draws=name,
            levels=self.levels.get(name, {}),
            without_effect="" if asked in (None, episodes) else f"{repeats}: {asked}",
        )

    def _placed(self, error: Exception, path: tuple[Any, ...], *sections: str) -> DocumentError:
        """Return an error of another module with the line of the entry that its message is about."""
        message = str(error)
        words_of: dict[tuple[Any, ...], list[Any]] = {}  # that the message may quote, by entry
        for section in sections:
            value = self.doc.at(*path, section)
            if isinstance(value, dict):
                for key, entry in value.items():
                    words_of[(*path, section, key)] = [key, *(entry if isinstance(entry, list) else [entry])]
            elif isinstance(value, (str, list)):
                words = words_of[(*path, section)] = []
                for entry in [value] if isinstance(value, str) else map(str, value):
                    words += (entry, entry.partition("=")[2])
        quoted = [
            place
            for place, words in words_of.items()
            if any(isinstance(word, str) and repr(word) in message for word in words)
        ]
        named = [place for place in words_of if re.search(rf"\b{re.escape(str(place[-1]))}\b", message)]
        place = [*quoted, *named, path][0]
        text = re.sub(rf"^{re.escape(str(place[-1]))}:? ", "", message)
        separator = " " if text.startswith("must ") else ": "
        return self.doc.error(f"{field_name(place)}{separator}{text}", *place)

    def _with_partner(self, assignment: str, partners: Mapping[str, str]) -> str:
        seat, equals, spec = assignment.partition("=")
        return f"{seat}{equals}{partners.get(spec.strip(), spec)}"

    def _play(self, path: tuple[str, str]) -> PlaySettings:
        doc = self.doc
        # Replays would teach participants, and metrics tell each of them what the others did
        values: dict[str, Any] = {"replay": False, "metrics": False}
        if doc.at("language") in LANGUAGES:
            values["language"] = doc.at("language")
        for keys in (("play",), (*path, "play")):
            values |= doc.mapping(*keys, only=PlaySettings.__dataclass_fields__, default={})
            try:
                settings = PlaySettings(**values)
            except (ValueError, TypeError) as error:
                raise self._placed(error, keys[:-1], keys[-1]) from None
        return settings

    def _check_real_time(self, path: tuple[str, str], match: Match, settings: PlaySettings) -> None:
        """Refuse what limits questions and answers where there are none."""
        doc = self.doc
        ignored = ignored_in_real_time(match, settings, bool(doc.at(*path, "limits", "max_messages")))
        if not ignored:
            return
        requirement = f"{IN_REAL_TIME[ignored]}, or set clock: turns under play ({path[1]})"
        if ignored == "max_messages":
            raise doc.refuse(requirement, *path, "limits", ignored)
        place = path if doc.at(*path, "play", ignored) else ()
        raise doc.refuse(requirement, *place, "play", ignored)

    def _blocks(self, conditions: Mapping[str, Condition], forms: Mapping[str, Questionnaire]) -> tuple[Block, ...]:
        doc = self.doc
        placed: list[tuple[tuple[Any, ...], Block]] = []
        for i, entry in enumerate(doc.listed("blocks", "blocks")):
            if isinstance(entry, dict) and "shuffle" in entry:
                placed += self._shuffled(("blocks", i), conditions, forms)
            else:
                placed.append((("blocks", i), self._block(("blocks", i), conditions, forms)))
        blocks = tuple(block for _, block in placed)
        played = Counter(name for block in blocks for name in block.play)
        for name, times in played.items():
            if times > 1:  # records of a condition do not say in which block it was played
                raise doc.error(
                    f"conditions.{name}: is played in {times} blocks, but may be in one; copy it under another name",
                    "conditions",
                    name,
                )
        used = {name for block in blocks for name in (*block.play, block.form, block.after)}
        for key, known in (("conditions", conditions), ("forms", forms)):
            for name in known:
                if name not in used:
                    raise doc.error(f"{key}.{name} is in no block", key, name)
        self._check_asked(placed, forms)
        return blocks

    def _check_asked(self, placed: Sequence[tuple[tuple[Any, ...], Block]], forms: Mapping[str, Questionnaire]) -> None:
        """Check that the answers on which something is shown can be given before it.

        Args:
            placed: Blocks, each with its path.
            forms: Questionnaires by name.
        """
        before: dict[str, list[str]] = {name: [name] for name in forms}  # what is asked with or before a questionnaire
        for k, (path, block) in enumerate(placed):
            others = [
                other
                for j, (_, other) in enumerate(placed)
                if j < k or (j > k and other.shuffle == block.shuffle != "")
            ]
            earlier = [name for other in others for name in (other.form, other.after) if name]
            self._check_earlier(block.show_if, earlier, *path)
            for name in filter(None, (block.form, block.after)):
                before[name] += earlier
        for form in forms.values():
            for i, item in enumerate(form.items):
                self._check_earlier(item.show_if, before[form.name], "forms", form.name, "items", i)

    def _check_earlier(self, show_if: ShowIf, earlier: Sequence[str], *path: Any) -> None:
        for name, _ in show_if:
            if name.partition(".")[0] not in earlier:
                known = ", ".join(dict.fromkeys(earlier)) or "none"
                problem = (
                    f"must name a question that is asked earlier, not {name!r}; questionnaires up to there: {known}"
                )
                raise self.doc.error(f"{field_name(path)}.show_if {problem}", *path, "show_if", name)

    def _shuffled(
        self, path: tuple[Any, ...], conditions: Mapping[str, Any], forms: Mapping[str, Any]
    ) -> Iterator[tuple[tuple[Any, ...], Block]]:
        doc, path = self.doc, (*path, "shuffle")
        doc.mapping(*path[:-1], only=("shuffle",))
        for i in range(len(doc.listed("pages and forms", *path))):
            block = self._block((*path, i), conditions, forms)
            if block.play:
                raise doc.refuse("have one of page, form, as games have an order of their own", *path, i)
            yield (*path, i), replace(block, shuffle=field_name(path[:-1]))

    def _block(self, path: tuple[Any, ...], conditions: Mapping[str, Any], forms: Mapping[str, Any]) -> Block:
        doc = self.doc
        block = doc.mapping(*path, only=("page", "form", "show_if", "shuffle", *_PLAY_KEYS))
        kinds = [kind for kind in ("page", "form", "play") if kind in block]
        if len(kinds) != 1:
            raise doc.refuse("have one of page, form, play", *path)
        doc.mapping(*path, only=_PLAY_KEYS if kinds == ["play"] else (*kinds, "show_if"))
        check_show_if(doc, forms, *path, "show_if")
        show_if = read_show_if(doc, *path, "show_if")
        if kinds == ["page"]:
            doc.mapping(*path, "page", only=("title", "text", "seconds", *MEDIA_KEYS))
            seconds = doc.integer(*path, "page", "seconds", default=0, high=MAX_SECONDS)
            page = one_line(doc.text(*path, "page", "title")), doc.text(*path, "page", "text")
            return Block(page=page, seconds=seconds, media=self.media.read(*path, "page"), show_if=show_if)
        if kinds == ["form"]:
            return Block(form=doc.choice(list(forms), *path, "form"), show_if=show_if)

        def check_condition(doc: Document, name: object, *place: Any) -> None:
            doc.choice(list(conditions), *place)

        if doc.at(*path, "play") == CELLS:
            if not self.levels:
                raise doc.refuse("be a list of conditions in a study without factors", *path, "play")
            play = tuple(self.levels)
        else:
            play = doc.names(check_condition, *path, "play")
        after = doc.choice(list(forms), *path, "after", default="")
        order = self._order(*path, "order")
        parts = self._parts(play, order, *path, "between")
        match = doc.choice(MATCHES, *path, "match", default="")
        if match == YOKED:
            self._check_yokes([conditions[name] for name in play], order == BETWEEN or len(parts) > 1, *path, "match")
        counts = [len(conditions[name].matches) for name in play]
        if match == TASKS and order == BETWEEN:
            raise doc.refuse(
                f"be {NONE} where the order is {BETWEEN}: each participant plays one condition", *path, "match"
            )
        if match == TASKS and len(set(counts)) > 1:
            raise doc.refuse(f"be {NONE}: the conditions have {counts} tasks to draw from", *path, "match")
        matches = order != BETWEEN and len(set(counts)) == 1
        return Block(
            play=play,
            order=order,
            parts=parts,
            match=match or (TASKS if matches else NONE),
            after=after,
            practice=doc.boolean(*path, "practice"),
        )

    def _order(self, *path: Any) -> str:
        meant = _ORDERS_ELSEWHERE.get(str(self.doc.at(*path)))
        if meant:
            raise self.doc.refuse(f"be one of {', '.join(ORDERS)} (did you mean {meant}?)", *path)
        return self.doc.choice(list(ORDERS), *path, default="balanced")

    def _check_yokes(self, played: Sequence[Condition], between: bool, *path: Any) -> None:
        """Check that participants of different conditions can play the same tasks."""
        doc = self.doc
        quota = self._quota(condition.name for condition in played)
        if not between:
            raise doc.refuse(f"be {TASKS} where all groups play the same conditions; {YOKED} needs between", *path)
        for what, values in (
            ("the same tasks", [sorted(match.task for match in condition.matches) for condition in played]),
            ("equally many episodes", [condition.episodes for condition in played]),
            ("equal quotas", [quota.get(condition.name) for condition in played]),
        ):
            if any(value != values[0] for value in values):
                raise doc.error(f"{field_name(path)}: {YOKED} needs conditions with {what}", *path)

    def _parts(self, play: Sequence[str], order: str, *path: Any) -> tuple[tuple[str, ...], ...]:
        """Return the conditions of each kind of group, where the factors of a field vary between groups."""
        doc = self.doc
        factors = next(iter(self.levels.values()), {})

        def check_factor(doc: Document, name: object, *place: Any) -> None:
            doc.choice(list(factors), *place)

        if doc.at(*path) is None:
            return ()
        if not all(name in self.levels for name in play):
            raise doc.error(f"{field_name(path)} needs a block that plays nothing but cells of factors", *path)
        if order == BETWEEN:
            raise doc.error(f"{field_name(path)}: with the order {BETWEEN} all factors vary between groups", *path)
        parts = tuple(split_cells({name: self.levels[name] for name in play}, doc.names(check_factor, *path)))
        if len({len(part) for part in parts}) > 1:
            raise doc.refuse("be factors whose levels occur in equally many conditions of the block", *path)
        return parts

    def _with_draws(self, conditions: Mapping[str, Condition], blocks: Sequence[Block]) -> dict[str, Condition]:
        draws = {name: condition.draws for name, condition in conditions.items()}
        for block in blocks:
            if block.match != NONE:
                shared = [draws[name] for name in block.play if draws[name] != name]
                draws |= dict.fromkeys(block.play, shared[0] if shared else block.play[0])
        return {name: replace(condition, draws=draws[name]) for name, condition in conditions.items()}

    def _ends(self) -> dict[str, End]:
        doc = self.doc
        doc.mapping("finish", only=(*ENDS, *REFUSALS), default={})
        ends = {}
        for name, default in default_texts(self._language())[1].items():
            path = ("finish", name)
            doc.mapping(*path, only=("text", "code", "url"), default={})
            url = doc.text(*path, "url", default="")
            if url and not re.match(r"https?://[^\s/]+(/\S*)?$", url):
                raise doc.refuse("be an address that starts with https:// or http://", *path, "url")
            code = one_line(doc.text(*path, "code", default=""))
            if name in REFUSALS:
                default = doc.text("words", name, default=default)  # where files of version 1.0.0 have it
            text = doc.text(*path, "text", default=default)
            allowed = ("id", *(self.doc.at("participants", "keep") or ()))
            for key, written in (("text", text), ("code", code), ("url", url)):
                for value in blanks(written):
                    if value not in allowed and (name, key, value) != ("too_many", "text", MINUTES):
                        raise doc.error(near_matches(f"value in finish.{name}.{key}", value, allowed), *path, key)
            ends[name] = End(text, code, url)
        return ends

    def _page_texts(self) -> dict[str, str]:
        doc = self.doc
        doc.mapping("words", only=(*PAGE_TEXTS, *REFUSALS), default={})
        texts = {}
        for name, default in default_texts(self._language())[0].items():
            texts[name] = one_line(doc.text("words", name, default=default))
            allowed = blanks(default)
            other_braces = re.search(r"[{}]", PLACEHOLDER.sub("", texts[name]))
            if other_braces or set(blanks(texts[name])) - set(allowed):
                listed = ", ".join(f"{{{blank}}}" for blank in allowed) or "none"
                raise doc.refuse(f"contain no braces other than: {listed}", "words", name)
        if doc.at("words", "waiting_text") and not doc.at("words", "waiting_one"):  # files of 1.0.0 have one for both
            texts["waiting_one"] = texts["waiting_text"]
        return texts


def default_per_network(limit: int, group: int) -> int:
    """Return how many participants may join from one network at once: a quarter of a study, at least two groups."""
    return min(60, max(2 * group, -(-limit // 4)))


_PLAY_KEYS = ("play", "order", "between", "match", "after", "practice")
_ORDERS_ELSEWHERE = {  # orders by the names that they have elsewhere
    "counterbalanced": "balanced",
    "williams": "balanced",
    "latin_square": "latin",
    "randomized": "random",
}
_PARAMETER = r"[A-Za-z][A-Za-z0-9_-]{0,39}"


def check_partner(spec: str) -> None:
    """Check that a policy spec can play beside people."""
    parsed = PolicySpec.parse(spec)
    if parsed.check().kind == PolicySpec.parse(PERSON).kind:
        raise ValueError(f"{spec!r} cannot be a partner; write seats of people as seat={PERSON}")
    if parsed.is_language:
        from collab_overcooked.policies.llm.settings import parse_settings

        parse_settings(parsed.parameters)
