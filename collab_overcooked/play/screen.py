"""Play on a full screen in the terminal, in turns or in real time. Needs the extra ``screen``.

Terminals tell of keys that go down, not up: one press is one action, and holding a key relies on its repetition.
"""

from __future__ import annotations

import asyncio
from typing import Any

from collab_overcooked.io.text import harmless
from collab_overcooked.play.people import Outbox
from collab_overcooked.play.session import Session

MISSING = "the full screen needs the extra screen: pip install 'collab-overcooked[screen]'; or use --lines"
KEYS = {
    **{"up": "up", "down": "down", "left": "left", "right": "right"},
    **{"w": "up", "s": "down", "a": "left", "d": "right", "space": "act", "e": "act", "x": "stay"},
}
LEGEND = {"up": ("Arrows/WASD", "Move"), "space": ("Space/E", "Use"), "x": ("X", "Wait")}
"""What the footer says of the keys of real-time play, by one key of each kind."""
STYLE = """
#sight { width: 3fr; } #side { width: 2fr; } #actions { height: 1fr; } #said { height: 8; }
#picture { height: auto; } #words { height: auto; } #status { height: auto; }
"""


def run_screen(session: Session) -> None:
    """Play a session on a full screen.

    Raises:
        ValueError: If the extra is not installed.
    """
    make_screen(session).run()


def tap_binding(binding: Any, key: str, name: str) -> Any:
    """Return what a key of real-time play does, made by Textual's ``Binding``; one of each kind is in the footer."""
    keys, what = LEGEND.get(key, ("", ""))
    return binding(key, f"tap('{name}')", what, show=bool(what), key_display=keys, priority=True)


def make_screen(session: Session) -> Any:
    """Return the Textual application of a session with one person.

    Raises:
        ValueError: If the extra is not installed.
    """
    try:
        from textual.app import App
        from textual.binding import Binding
        from textual.containers import Horizontal, Vertical, VerticalScroll
        from textual.widgets import Footer, Header, Input, OptionList, RichLog, Static
    except ImportError:
        raise ValueError(MISSING) from None

    class PlayScreen(ScreenEvents, App):  # type: ignore[misc, unused-ignore]
        """Text picture and words on the left, actions and talk on the right, a line to write below."""

        CSS = STYLE
        BINDINGS = [  # noqa: RUF012
            Binding("enter", "ready", "Ready", priority=True),
            Binding("escape", "kitchen", "Kitchen"),
            Binding("ctrl+t", "talk", "Write"),
            Binding("ctrl+q", "leave", "Leave", priority=True),
            *(tap_binding(Binding, key, name) for key, name in KEYS.items()),
        ]

        def compose(self) -> Any:
            """Lay the screen out."""
            yield Header()
            yield Static("", id="status", markup=False)
            with Horizontal():
                with VerticalScroll(id="sight", can_focus=True):
                    yield Static("", id="picture", markup=False)
                    yield Static("", id="words", markup=False)
                with Vertical(id="side"):
                    yield OptionList(id="actions", markup=False)
                    yield RichLog(id="said", wrap=True, markup=False)
            yield Input(id="line", placeholder="plan; or say: words")
            yield Footer()

    app: Any = PlayScreen()
    app.hand = Hand(session)
    return app


class Hand:
    """Handler of a screen's messages.

    Args:
        session: With one person.
    """

    def __init__(self, session: Session) -> None:
        self._app: Any = None
        self._session, self._person = session, session.people[0]
        self.me: dict[str, Any] = {}
        self._question: dict[str, Any] | None = None
        self._ready = False  # is asked for

    async def run(self, app: Any) -> None:
        """Show messages until the session is over.

        Args:
            app: The application, with the widgets that are named in ``make_screen``.
        """
        self._app = app
        outbox = Outbox("terminal")
        self._session.connect(self._person, outbox)
        playing = asyncio.create_task(self._session.run())
        while (message := await outbox.get()) is not None:
            self._show(message)
            if message["type"] == "state" and message["state"] == "closed":
                break
        await playing

    def _show(self, message: dict[str, Any]) -> None:
        kind = message["type"]
        if kind == "welcome":
            self.me = message
            self._app.title = message["game"]
            self._app.query_one("#actions").display = message["clock"] != "ticks"
            self._app.query_one("#sight").focus()
            self._app.refresh_bindings()
            self._status("")
        elif kind == "state":
            self._ready = message["state"] == "ready" and not message["ready"][self._person.agent]
            self._app.refresh_bindings()
            if message["state"] != "closed":
                self._status("Press Enter when you are ready." if self._ready else message["state"])
        elif kind == "frame":
            env, seat = self._session.env, self._person.seat
            if self.me["show"] != "words":
                self._put("picture", str(env.game.render(env.arrays[0], 0, "ansi", seat)))
            if message.get("text"):
                self._put("words", message["text"])
            self._log_messages(message.get("said", ()))
        elif kind == "ask":
            self._ask(message)
        elif kind == "refused":
            self._status(f"Refused: {message['message']}")
        elif kind in ("over", "closing"):
            self._status(f"{message.get('outcome') or message.get('why') or 'Over.'} Ctrl+Q leaves.")

    def _ask(self, message: dict[str, Any]) -> None:
        self._question = message
        menu = self._app.query_one("#actions")
        menu.clear_options()
        if message["kind"] == "act":
            menu.add_options(message["actions"])
            menu.focus()
            why = f"Refused: {message['attempt']}: {message['error'][1]} " if message["error"] else ""
            self._status(f"{why}Your turn: choose an action, or write a plan.")
        else:
            self._log_messages(message["inbox"][-1:])
            self._app.query_one("#line").focus()
            self._status("You are spoken to: write an answer, or press Enter to say nothing.")

    def _log_messages(self, messages: Any) -> None:
        for message in messages:
            name = "A voice" if message["agent"] is None else self.me["names"][message["agent"]]
            self._app.query_one("#said").write(harmless(f"{name}: {message['say']}"))

    def _put(self, name: str, text: str) -> None:
        self._app.query_one(f"#{name}").update(harmless(text))

    def _status(self, text: str) -> None:
        seat = self._person.seat
        name = "" if seat is None or not self.me else f"{self.me['names'][seat]}. "
        self._put("status", name + text)

    def send(self, message: dict[str, Any]) -> None:
        """Send a message."""
        self._session.receive(self._person, message)

    def takes(self, action: str, writing: bool) -> bool:
        """Tell whether an action of the application makes sense now."""
        if action == "tap":
            return bool(self.me.get("keys")) and not writing and not self._ready
        return self._ready and not writing if action == "ready" else True

    def answer(self, plan: str, say: str = "") -> None:
        """Answer the open question."""
        question, self._question = self._question, None
        if question is None:
            return
        answer = {"turn": question["turn"], "plan": plan, "say": say}
        if question["kind"] == "act":
            self.send({"type": "act", **answer})
        else:
            self.send({"type": "reply", "last": False, **answer})

    def write(self, line: str) -> None:
        """Handle a line: a plan, or a message after ``say:``; in real time and in replies always a message."""
        message = line.removeprefix("say:").strip()
        if self.me.get("clock") == "ticks":
            self.send({"type": "say", "say": message})
        elif self._question is not None and (self._question["kind"] != "act" or line.startswith("say:")):
            self.answer("", message)
        else:
            self.answer(line.strip())


class ScreenEvents:
    """Mixin of Textual's App: handlers of keys, lines and the menu.

    Attributes:
        hand: Shows messages of the session, and sends what is done.
    """

    hand: Hand
    focused: Any
    exit: Any
    query_one: Any
    run_worker: Any

    def on_mount(self) -> None:
        """Begin to play."""
        self.run_worker(self.hand.run(self), exclusive=True)

    def on_option_list_option_selected(self, event: Any) -> None:
        """Take an action of the menu."""
        self.hand.answer(str(event.option.prompt))

    def on_input_submitted(self, event: Any) -> None:
        """Take a line."""
        self.hand.write(event.value)
        event.input.value = ""

    def check_action(self, action: str, parameters: Any) -> bool:
        """Return whether an action is enabled; keys of real-time play are off while the line has the focus."""
        return self.hand.takes(action, writing=self.focused is self.query_one("#line"))

    def action_ready(self) -> None:
        """Say that the person is ready."""
        self.hand.send({"type": "ready"})

    def action_tap(self, key: str) -> None:
        """Press a key of real-time play."""
        self.hand.send({"type": "tap", "key": key})

    def action_kitchen(self) -> None:
        """Leave the line."""
        self.query_one("#sight").focus()

    def action_talk(self) -> None:
        """Go to the line."""
        self.query_one("#line").focus()

    def action_leave(self) -> None:
        """Leave the game."""
        self.hand.send({"type": "leave"})
        self.exit()
