"""Knowledge of one seat in one state: the source of prompts, pages, seat pictures and observations of policies."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from collab_overcooked.core.record import Event
from collab_overcooked.envs.api import Out, State
from collab_overcooked.envs.lexicon import translator_of
from collab_overcooked.kernels.macro_actions import IDLE, Macro

MIN_SIDE = 384  # pixels of a picture's shorter side


class SeatView:
    """Knowledge that a seat has of a state, computed on first access. Games with hidden information override it.

    Args:
        game: Compiled game, in the language in which it is played.
        state: State as a batch of one. It is not copied, so pass a copy if the env continues.
        seat: Index of the agent.

    Attributes:
        public_refusals: Whether all seats learn which actions of others were refused in the previous step.
        public_choices: Whether a seat knows the choices of earlier seats in the same step.
        plays_in_turns: Whether these choices take effect before the seat chooses, so that the state includes them.
        public_history: Whether all seats see the events of others in earlier steps.
        public_actions: Whether all seats see the actions of others in earlier steps.
        role: Role of the seat in the team, empty if all seats are alike.
        recipe: Recipe of the current order, None if the seat does not know it or the text contains it anyway.
        wait_until_changed: Value that differs once anything has changed that a seat waits for; None if there is none.
    """

    public_refusals = False
    public_choices = False
    plays_in_turns = False
    public_history = True
    public_actions = False
    role = ""
    recipe: str | None = None
    wait_until_changed: Hashable | None = None

    def __init__(self, game: Any, state: State, seat: int) -> None:
        self._game, self._seat = game, seat
        self._state: Any = state
        self._say = translator_of(game)

    @cached_property
    def scene(self) -> dict[str, Any]:
        """The seat's scene without a lexicon, as drawn in its pictures."""
        scene: dict[str, Any] = self._game.seat_scene(self._game.scene(self._state, 0), self._seat)
        return scene

    @cached_property
    def picture(self) -> np.ndarray:
        """The seat's picture: uint8 (H, W, 3), drawn from its scene, large enough to read its labels."""
        from collab_overcooked.render.rgb import draw_rgb

        drawing = self._game.drawing(self.scene, self._seat)
        drawn = draw_rgb(drawing)
        return drawn if min(drawn.shape[:2]) >= MIN_SIDE else draw_rgb(drawing, 2 * drawing.tile)

    @cached_property
    def text(self) -> str:
        """The state as text."""
        return str(self._game.describe(self._state, 0, self._seat))

    @cached_property
    def surroundings(self) -> str:
        """The state as text for people: without the list of actions, which pages show separately."""
        return self.text

    @cached_property
    def manual(self) -> str:
        """The game's manual, empty if it has none."""
        return str(self._game.manual(self._state, 0, self._seat))

    @property
    def picture_manual(self) -> str:
        """Manual for language agents that see pictures: without references to the text observation."""
        return self.manual

    @property
    def lone_texts(self) -> tuple[str, str] | None:
        """The manual and the state without a word of partners; None in games whose rules are about several agents."""
        return None

    @property
    def has_partners(self) -> bool:
        """Whether another agent still takes part in the game, as far as the seat knows."""
        return len(self.names) > 1

    @property
    def is_busy(self) -> bool:
        """True if the seat is executing an action and cannot begin another one."""
        running = getattr(self._state, "macro_state", None)
        return running is not None and bool(running[0, self._seat, Macro.ACTION] != IDLE[Macro.ACTION])

    @property
    def talk_price(self) -> str:
        """Sentence on the price of messages, for seats that pay it; empty in games where messages are free."""
        return ""

    @property
    def rules(self) -> str:
        """Rules as shown to people; a game overrides them if its language agents read another form."""
        return "\n".join(filter(None, (self.manual, self.talk_price)))

    @property
    def picture_rules(self) -> str:
        """Rules for people who see pictures and act by keys, clicks and menus: without the syntax of actions."""
        return self.rules

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all seats in texts."""
        return self._game.display_names

    @property
    def orders(self) -> Sequence[str]:
        """Names of the dishes to deliver, the current order first, as far as the seat can know them."""
        return [self._say(order if isinstance(order, str) else order["name"]) for order in self.scene.get("orders", ())]

    @property
    def objective(self) -> str:
        """Goal of this episode and points for reaching it, as a few sentences for people."""
        return ""

    @property
    def limit(self) -> int | None:
        """Maximum number of steps, None if the seat does not know it."""
        return self.scene.get("limit")

    @cached_property
    def action_texts(self) -> list[str]:
        """Texts of all actions by id, in this state."""
        return list(self._game.action_texts(self._state, 0, self._seat))

    @cached_property
    def action_labels(self) -> dict[str, str]:
        """Label for people of each action text."""
        labels = self._game.action_labels(self._state, 0, self._seat)
        return dict(zip(self.action_texts, labels, strict=True))

    @property
    def vocabulary(self) -> Sequence[str]:
        """Texts of all actions of the seat, whether or not they are possible now."""
        return self.action_texts

    @property
    def requests(self) -> Mapping[str, str]:
        """Entry of a plan that asks for each action that a teammate could begin now, as far as the seat knows.

        Keys are texts of actions. Empty in games whose plans ask for nothing.
        """
        return {}

    @property
    def supplies(self) -> Sequence[str]:
        """Names of objects that this seat can fetch for the team, in games where seats differ."""
        return ()

    @property
    def walks(self) -> frozenset[int]:
        """Ids of actions that only walk to a place; a click on the place then offers the actions possible there."""
        return frozenset()

    @property
    def waits(self) -> Sequence[int]:
        """Ids of the actions that wait 1, 2, 3, ... steps, where one action waits for several."""
        return ()

    @property
    def useless(self) -> frozenset[int]:
        """Ids of actions that change nothing in this state although the game accepts them."""
        return frozenset()

    @property
    def unlikely(self) -> frozenset[int]:
        """Ids of actions that only spoil or undo something although the game accepts them; menus list them late."""
        return frozenset()

    @property
    def idle_last(self) -> bool:
        """True if lists of actions in the game's order end with the idle action."""
        return False

    @property
    def payments(self) -> frozenset[int]:
        """Ids of actions that only pay for messages; people write the message instead."""
        return frozenset(self._game.talk_actions(self._seat))

    @property
    def refusals(self) -> dict[str, str]:
        """Reason for each action that the game would refuse, by the action's text."""
        checks = {text: self._game.check(self._state, 0, self._seat, k) for k, text in enumerate(self.action_texts)}
        return {text: message for text, (code, message) in checks.items() if code != "OK"}

    def event_label(self, label: str) -> str:
        """Return the label of an event with the names that the seat knows by now."""
        return self._say(label)

    def own_event_label(self, label: str) -> str:
        """Return the label of an event of the seat itself, spelled as the action that caused it."""
        return self._say(label)

    def consequence(self, event: Event) -> str:
        """Return what an event of the last step brought about that its label does not say, and why; empty if nothing.

        Args:
            event: Event whose label the seat knows.
        """
        return ""

    @property
    def idle_action(self) -> int:
        """Id of the action that does nothing for one step."""
        return int(self._game.idle_action(self._seat))

    def observed_by(self, game: Any, out: Out) -> np.ndarray:
        """Return the seat's observation in the encoding of a variant of the game.

        Args:
            game: Variant that differs only in the encoding of observations.
            out: Outputs of the variant for a batch of one, overwritten.
        """
        game.observe(self._state, out)
        shape = game.single_observation_space.shape
        observation: np.ndarray = out.observations[0, self._seat].reshape(shape)
        return observation
