"""A network between browser and server that a test can cut."""

from __future__ import annotations

import contextlib
import socket
import threading


class Wire:
    """Passes connections on to a port of this machine until it is cut; while it is, nobody gets through.

    Attributes:
        port: Where to connect to.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._cut = False
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # it is closed
            while True:
                entry, _ = self._listening.accept()
                if self._cut:
                    entry.close()
                    continue
                other = socket.create_connection(("127.0.0.1", self._target))
                self._open += [entry, other]
                for one, two in ((entry, other), (other, entry)):
                    threading.Thread(target=self._pass, args=(one, two), daemon=True).start()

    @staticmethod
    def _pass(one: socket.socket, two: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                two.sendall(data)
        with contextlib.suppress(OSError):
            two.shutdown(socket.SHUT_RDWR)
        one.close()

    def cut(self, on: bool) -> None:
        self._cut = on
        while on and self._open:
            with contextlib.suppress(OSError):
                self._open.pop().shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.cut(True)
        self._listening.close()
