"""Mutated and hostile files of every kind that users write: read, or refused in a sentence that says where."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml
from attacks.mutations import mutate

from collab_overcooked import registry
from collab_overcooked.baselines.cloning import Cloning
from collab_overcooked.baselines.pbt import read_pbt_settings
from collab_overcooked.baselines.settings import TrainingSettings, read_config, settings_from
from collab_overcooked.cli.documents import document_kinds
from collab_overcooked.games.collab_overcooked.engine.spec import MAX_FLOOR, load_kitchen
from collab_overcooked.io.documents import DocumentError
from collab_overcooked.policies.llm.settings import parse_settings
from collab_overcooked.study import pages
from collab_overcooked.study.documents import study_facts
from collab_overcooked.study.reader import read_study

pytestmark = pytest.mark.attacks

MUTATIONS, FEW = 16, 5  # of each kind and seed; of files that name several games
MOST_BYTES = 2**28  # of one moment, and of a picture
ROOT = resources.files("collab_overcooked")


def compiled(env_id: str, option: str) -> Callable[[Path], None]:
    """Return what compiles a game of a file, without its kernels, and draws its first moment from an empty one."""

    def load(path: Path) -> None:
        game = registry.load_game(env_id, **{option: str(path)})
        arrays = [array for part in game.alloc(1) for array in part]
        assert sum(array.nbytes for array in arrays) < MOST_BYTES

    return load


def room_map(path: Path) -> None:
    escape = b"escape" in path.read_bytes()
    compiled("CollabEscape-v0" if escape else "CollabCapture-v0", "map")(path)


def study(path: Path) -> None:
    result = read_study(str(path))
    study_facts(result)
    displayed = [pages.consent_page(result, {}), pages.waiting_page(result, "x", 1)]
    displayed += [pages.form_page(result, form, "/x", 0, 1, {}, {}) for form in result.forms.values()]
    displayed += [pages.end_page(result, end, {"id": "x"}) for end in result.ends.values()]
    assert "\x1b" not in "".join(displayed) and "\u202e" not in "".join(displayed)


READERS: dict[str, tuple[Callable[[Path], Any], list[str]]] = {
    "layout": (compiled("Overcooked-v0", "layout"), ["layouts/overcooked/locked", "layouts/overcooked/soup_passing"]),
    "v2-layout": (
        compiled("OvercookedV2-v0", "layout"),
        ["layouts/overcooked_v2/two_rooms", "layouts/overcooked_v2/grounded_coord_simple"],
    ),
    "kitchen": (compiled("CollabOvercooked-v0", "kitchen"), ["layouts/collab_overcooked/shared_floor"]),
    "level": (compiled("CuisineWorld-v0", "level"), ["layouts/cuisineworld/level_3"]),
    "scenario": (compiled("KitchenRush-v0", "scenario"), ["layouts/rush/easy"]),
    "craft-level": (compiled("CraftKitchen-v0", "level"), ["layouts/craft/house", "layouts/craft/butchery"]),
    "map": (room_map, ["layouts/rooms/nine_rooms", "layouts/rooms/ten_rooms"]),
    "lexicon": (compiled("KitchenRush-v0", "lexicon"), ["layouts/lexicons/alien"]),
    "study": (study, ["layouts/studies/mindagent_partners", "layouts/studies/cots_partner"]),
    "training": (
        lambda path: settings_from(TrainingSettings, read_config(str(path))),
        ["baselines/configs/cramped_room"],
    ),
    "population": (lambda path: read_pbt_settings(read_config(str(path))), ["baselines/configs/pbt_cramped_room"]),
    "clone": (lambda path: settings_from(Cloning, read_config(str(path))), []),
    "model": (lambda path: parse_settings(str(path)), []),
}
WRITTEN = {
    "clone": {"env": "Overcooked-v0", "options": {"layout": "cramped_room"}, "epochs": 2, "data": ["x"], "seats": [0]},
    "model": {"model": "m", "temperature": 0.5, "memory": 5, "agent": "partner", "answer": "schema", "repairs": 1},
}
NAMES = ("levels", "level_1", "../../../../etc/passwd", "/etc/passwd", "paper", "easy", "<script>", "{0.__class__}")
KEYS = (1, None, True, "extends", "name", "agents")


def files_of(kind: str) -> list[dict[str, Any]]:
    names = READERS[kind][1]
    if kind in WRITTEN:
        return [WRITTEN[kind]]
    return [yaml.safe_load(ROOT.joinpath(f"{name}.yaml").read_text("utf-8")) for name in names]


def written(rng: random.Random, document: Any) -> str:
    """Return a mutated document as YAML, some of it with damaged characters."""
    if isinstance(document, dict) and rng.random() < 0.3:
        document[rng.choice(KEYS)] = rng.choice(NAMES)
    try:
        text = yaml.safe_dump(document, allow_unicode=True, sort_keys=False)
    except (yaml.YAMLError, ValueError):  # what YAML cannot say, and numbers of too many digits
        text = "name: " + "9" * 5000
    for _ in range(rng.choice((0, 0, 0, 1, 3))):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice("\t&*!|>%@`'\"{}[]:-#\x00\x07\u2028\u202e9.") + text[at + rng.randrange(2) :]
    return text


def read(kind: str, path: Path) -> bool:
    """Return whether a file was read; else its error must be a sentence."""
    try:
        READERS[kind][0](path)
    except (ValueError, OSError) as error:
        assert str(error).strip() and len(str(error)) < 3000, path.read_text("utf-8", "replace")[:500]
        return False
    return True


def test_every_kind_of_file_is_attacked():
    kinds = {kind.name for kind in document_kinds()}
    assert kinds <= set(READERS), kinds - set(READERS)


@pytest.mark.parametrize("kind", READERS)
def test_mutated_files_are_read_or_refused(kind, attack_seed, tmp_path):
    rng, documents = random.Random(f"{kind}{attack_seed}"), files_of(kind)
    path, refused = tmp_path / "file.yaml", 0
    for document in documents:
        path.write_text(yaml.safe_dump(document, allow_unicode=True), "utf-8")
        assert read(kind, path)
    for _ in range(FEW if kind == "study" else MUTATIONS):
        path.write_text(written(rng, mutate(rng, rng.choice(documents), documents)), "utf-8", "surrogatepass")
        refused += not read(kind, path)
    assert refused


LONG = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)
)
HOSTILE = {
    "aliases that multiply": LONG,
    "a list within itself": "name: &a [*a]\n",
    "a deep list": "name: " + "[" * 20_000,
    "a command": "!!python/object/apply:os.system ['touch PWNED']\n",
    "a set as a key": "? !!set {a, b}\n: c\n",
    "a date that is none": "name: !!timestamp x\n",
    "a flag that is none": "name: !!bool x\n",
    "a long number": "name: " + "9" * 10_000,
    "nothing": "",
    "no text": "\x00\x01",
    "itself": "extends: file.yaml\n",
    "a list": "- a\n",
}


@pytest.mark.parametrize("kind", READERS)
def test_hostile_files_are_refused(kind, tmp_path):
    for name, text in HOSTILE.items():
        path = tmp_path / "file.yaml"
        path.write_text(text, "utf-8")
        assert not read(kind, path), name
    assert not (tmp_path / "PWNED").exists()


def kitchen_of(width: int) -> dict[str, Any]:
    """Return the built-in kitchen with a wider floor."""
    document = copy.deepcopy(files_of("kitchen")[0])
    rows = document["grid"].rstrip("\n").split("\n")
    document["grid"] = "\n".join(
        row[:-1] + (row[-1] if i in (0, len(rows) - 1) else " ") * width + row[-1] for i, row in enumerate(rows)
    )
    return document


def test_a_kitchen_has_no_more_floor_than_ways_can_be_worked_out_for(tmp_path):
    path = tmp_path / "kitchen.yaml"

    def load(width):
        path.write_text(yaml.safe_dump(kitchen_of(width)), "utf-8")
        return load_kitchen(str(path))

    def cells(width):
        return kitchen_of(width)["grid"].count(" ")

    most = max(width for width in range(1, 200) if cells(width) <= MAX_FLOOR)
    load(most)
    with pytest.raises(DocumentError, match=rf"yaml, line \d+: the grid has \d+ floor cells; use at most {MAX_FLOOR}"):
        load(most + 1)


TOO_LARGE = [
    ("craft-level", ("chest", 0, 0), 8000, "cells apart; at most 100"),
    ("craft-level", ("starts", 0, 1), -8000, "cells apart; at most 100"),
    ("map", ("places", 1, 0), 10**9, "at most 40 tiles"),
    ("map", ("places", 1, 1), 41.0, "at most 40 tiles"),
    ("kitchen", ("max_wait",), 10**5, "from 1 to 1000"),
    ("layout", ("grid",), "\n".join(["X" * 60] * 60), "maximum is 2500 cells"),
]


@pytest.mark.parametrize(("kind", "place", "value", "text"), TOO_LARGE)
def test_files_that_ask_for_more_memory_than_pictures_and_tables_may_take(kind, place, value, text, tmp_path):
    document = copy.deepcopy(files_of(kind)[0])
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    path = tmp_path / "file.yaml"
    path.write_text(yaml.safe_dump(document), "utf-8")
    with pytest.raises(DocumentError, match=text):
        READERS[kind][0](path)
