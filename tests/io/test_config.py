"""Options of games: what is allowed is checked once, and messages name field, value and what is allowed."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, dataclass, fields
from enum import IntEnum
from pathlib import Path

import numpy as np
import pytest

from collab_overcooked import registry
from collab_overcooked.io.config import MAX_OPTION, Config, boolean, checked_by_game, choice, integer, number


@dataclass(frozen=True)
class Soup(Config):
    place: str | Path = checked_by_game("here", "Where.")
    cooks: int | None = integer(None, "How many.", least=1, most=4)
    steps: int = integer(10, "How long.", least=0)
    speed: float = number(1.5, "How fast.", below=100)
    pause: float | None = number(2.0, "How slow.", optional=True)
    salt: str = choice("some", "How much.", ("none", "some"))
    hot: bool = boolean(True, "How warm.")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cooks": 5}, "cooks must be an integer from 1 to 4, not 5"),
        ({"cooks": True}, "cooks must be an integer from 1 to 4, not True"),
        ({"steps": -1}, "steps must be an integer of at least 0, not -1"),
        ({"steps": None}, "steps must be an integer of at least 0, not None"),
        ({"steps": 2.0}, "steps must be an integer of at least 0, not 2.0"),
        ({"steps": 2**40}, f"steps must be an integer of at most {MAX_OPTION}, not {2**40}"),
        ({"speed": math.nan}, "speed must be a number above 0 and below 100, not nan"),
        ({"speed": math.inf}, "speed must be a number above 0 and below 100, not inf"),
        ({"pause": math.inf}, "pause must be a number above 0, not inf"),
        ({"pause": "long"}, "pause must be a number above 0, not 'long'"),
        ({"salt": "sme"}, "unknown salt 'sme'; did you mean some"),
        ({"salt": ["some"]}, "unknown salt"),
        ({"hot": 1}, "hot must be true or false, not 1"),
        ({"slt": "some"}, "unknown option 'slt'; did you mean salt"),
    ],
)
def test_what_is_not_allowed_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        Soup.read((), options)


def test_values_become_plain_python():
    soup = Soup.read((Path("there"), np.int64(3)), {"hot": np.False_, "pause": None})
    assert soup.to_dict() == {
        "place": "there",
        "cooks": 3,
        "steps": 10,
        "speed": 1.5,
        "pause": None,
        "salt": "some",
        "hot": False,
    }
    assert type(soup.cooks) is int
    with pytest.raises(FrozenInstanceError):
        soup.steps = 3


class Salt(IntEnum):
    SOME = 3
    NONE = 7


class Column(IntEnum):
    SALT = 0
    COOKS = 1
    UNUSED = 2
    HOT = 3
    STEPS = 4


def test_parameters_are_packed_by_name():
    packed = Soup(salt="none").pack(Column, steps=12, salt=Salt)
    assert packed.dtype == np.int32 and packed.tolist() == [Salt.NONE, -1, 0, 1, 12]
    with pytest.raises(ValueError, match="Column has no column for step"):
        Soup().pack(Column, salt=Salt, step=12)
    with pytest.raises(ValueError):  # a name is no number
        Soup().pack(Column)


def test_an_option_is_given_once():
    with pytest.raises(ValueError, match=r"^place: is given twice, by position and by name"):
        Soup.read(("here",), {"place": "there"})


def test_there_are_no_more_options_by_position_than_options():
    with pytest.raises(ValueError, match=r"^at most 7 options by position, not 8$"):
        Soup.read(("here", *range(7)), {})


@pytest.mark.parametrize("env_id", registry.registered())
def test_games_say_what_each_option_means(env_id):
    config = registry.game_class(env_id).config_class
    assert all(field.metadata["help"] for field in fields(config))
    assert registry.load_game(env_id).kwargs.keys() - {"lexicon"} == set(config.names())
    for entry in fields(config):
        name = entry.name
        if "least" in entry.metadata:
            with pytest.raises(ValueError, match=f"{name} must be an integer"):
                registry.load_game(env_id, **{name: 10**12})
