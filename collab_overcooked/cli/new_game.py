"""Command ``new-game``: write a game in one file to start from."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from collab_overcooked import registry
from collab_overcooked.cli.app import OUT
from collab_overcooked.io.checks import quote_value
from collab_overcooked.io.files import read_shipped, write_atomic


def new_game(
    name: Annotated[str, Parameter(help="Name of the game in CamelCase, such as LampRoom.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="Folder of the file.")] = Path("."),
) -> None:
    """Write a small game in one file: it plays, trains and passes the conformance checks, and is there to be edited."""
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]{1,39}", name):
        raise ValueError(f"name must be CamelCase, such as LampRoom, not {quote_value(name)}")
    if f"{name}-v0" in registry.registered():
        raise ValueError(f"name: {name}-v0 is registered already; choose another one")
    module = name.lower()  # as suites are called after their games
    path = out / f"{module}.py"
    if path.exists():
        raise ValueError(f"{path} exists; choose another name or folder")
    text = read_shipped("cli/new_game.txt")
    values = {"NAME": name, "MODULE": module, "FILE": shlex.quote(str(path))}
    text = re.sub(r"\b(NAME|MODULE|FILE)\b", lambda found: values[found[1]], text)
    write_atomic(path, text.encode())
    OUT.print(f"written: {path}\nIts first lines name commands that play, evaluate, train and check it.")
