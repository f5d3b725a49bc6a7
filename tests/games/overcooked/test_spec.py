"""Layout files: the built-in ones, the public format, and what is refused with file, line and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from collab_overcooked.games.overcooked.engine.spec import SOUPS, layouts, load_kitchen
from collab_overcooked.io.documents import DocumentError

GRID = "XXPXX\nO 1 O\nX 2 X\nXDXSX\n"
# Start cells of players 1 and 2, pots, cells that are no floor; as the specification lists them.
SHIPPED = {
    "cramped_room": ((5, 4), [(1, 2), (3, 1)], 1),
    "asymmetric_advantages": ((9, 5), [(6, 2), (1, 3)], 2),
    "asymmetric_advantages_llmco": ((11, 5), [(8, 2), (1, 3)], 2),
    "coordination_ring": ((5, 5), [(2, 1), (1, 2)], 2),
    "forced_coordination": ((5, 5), [(3, 1), (1, 2)], 2),
    "counter_circuit": ((8, 5), [(3, 3), (3, 1)], 2),
    "soup_passing": ((7, 5), [(2, 1), (4, 1)], 2),
    "gated_delivery": ((5, 6), [(1, 2), (3, 1)], 1),
    "gated_delivery_forced": ((5, 6), [(1, 2), (3, 1)], 1),
    "locked": ((7, 5), [(2, 1), (4, 1)], 2),
    "locked_forced": ((7, 5), [(2, 1), (4, 1)], 2),
    "door_rect_room": ((7, 7), [(1, 3), (5, 1)], 1),
    "passage_north": ((9, 5), [(2, 2), (6, 2)], 2),
    "passage_south": ((9, 5), [(2, 2), (6, 2)], 2),
    "split_left": ((9, 6), [(2, 3), (6, 3)], 2),
    "split_right": ((9, 6), [(2, 3), (6, 3)], 2),
    "outage_off": ((7, 5), [(2, 2), (4, 2)], 2),
    "outage_on": ((7, 5), [(2, 2), (4, 2)], 2),
    "small_corridor": ((10, 5), [(2, 2), (7, 2)], 2),
    "belt": ((9, 5), [(2, 2), (7, 2)], 2),
    "two_soups": ((5, 4), [(1, 1), (3, 1)], 2),
    "chopping": ((6, 4), [(2, 1), (3, 1)], 2),
}
OTHER_ORDERS = {"two_soups": ((3, 0), (2, 1), (0, 3)), "chopping": ((2, 1),)}


def test_every_shipped_layout_is_known_here():
    assert set(layouts()) == set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_layouts(name):
    layout = load_kitchen(name)
    size, starts, pots = SHIPPED[name]
    assert (layout.name, (layout.width, layout.height), list(layout.starts)) == (name, size, starts)
    assert len(layout.cells("P")) == pots
    assert layout.orders == OTHER_ORDERS.get(name, ((3, 0),))
    assert layout.values[3, 0] == 20
    assert set(layout.cook_times.values()) == {20}
    assert layout.shaping == {"potting": 3, "dish": 3, "soup": 5}
    assert layout.gate_limit == (7 if name.endswith("forced") else 10)
    assert layout.description


def test_counters_of_both_asymmetric_maps():
    assert len(load_kitchen("asymmetric_advantages").cells("X")) == 23
    assert len(load_kitchen("asymmetric_advantages_llmco").cells("X")) == 29


def test_soups_by_numbers_and_by_ingredient():
    layout = load_kitchen(
        {
            "grid": GRID,
            "orders": [{"soup": ["tomato", "onion"], "value": 9, "cook_time": 3}, ["onion"]],
            "bonus_orders": [["onion", "tomato"]],
            "value": {"onion": 4, "tomato": 6},
            "cook_time": 12,
        }
    )
    assert layout.orders == ((1, 1), (1, 0))
    assert layout.bonus_orders == ((1, 1),)
    assert (layout.values[1, 1], layout.values[1, 0], layout.values[1, 2]) == (9, 4, 16)
    assert (layout.cook_times[1, 1], layout.cook_times[3, 0]) == (3, 12)


def test_without_orders_every_soup_pays():
    assert load_kitchen({"grid": GRID}).orders == SOUPS


def test_a_mapping_may_extend_a_shipped_layout():
    layout = load_kitchen({"extends": "locked", "name": "mine", "gate_limit": 3})
    assert (layout.name, layout.gate_limit, layout.grid) == ("mine", 3, load_kitchen("locked").grid)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grid": "XXPXX\nO 1 O\nX 2 X\nXDXSXX"}, r"line 1: grid row 0 has 5 cells, others 6; close every row"),
        ({"grid": GRID.replace("2", "3")}, "starts player 3 but not player 2"),
        ({"grid": GRID.replace("2", "1")}, r"line 3, cell \(2, 2\): player 1 starts twice"),
        ({"grid": GRID.replace("1", " ").replace("2", " ")}, "no player starts in the grid; put the digit 1"),
        ({"grid": GRID.replace("P", "X")}, "has no pot P"),
        ({"grid": GRID.replace("O", "X")}, "has no dispenser O or T"),
        ({"grid": GRID.replace("P", " ")}, r"line 1, cell \(2, 0\): floor at the edge"),
        ({"grid": GRID.replace("P", "G")}, r"cell \(2, 0\): a gate at the edge"),
        ({"grid": GRID.replace("P", "Q")}, r"cell \(2, 0\): unknown symbol 'Q'; use space, a digit or one of XOTDPSWG"),
        ({"grid": None}, "grid must be a text"),
        ({"orders": [["onion", "leek"]]}, "unknown ingredient 'leek'"),
        ({"orders": [[]]}, "a soup is a list of 1 to 3 ingredients"),
        ({"orders": [["onion"], ["onion"]]}, "ordered a second time"),
        ({"orders": "onion"}, "orders must be a list of soups"),
        ({"orders": [{"soup": ["onion"], "price": 3}]}, "unknown key 'price'"),
        ({"orders": [["onion"]], "bonus_orders": [["tomato"]]}, "must be one of the orders too"),
        ({"value": -1}, "value must be an integer of at least 0, not -1"),
        ({"value": {"onion": 3}}, "maps both onion and tomato"),
        ({"gate_limit": 0}, "gate_limit must be an integer of at least 1"),
        ({"shaping": {"plating": 3}}, "unknown shaped reward 'plating'"),
        ({"shaping": {"dish": "much"}}, "shaping.dish must be a number"),
        ({"shared_counters": [[1, 1]]}, r"\[1, 1\] is no counter; name cells"),
        ({"shared_counters": 3}, "shared_counters must be a list of cells"),
        ({"name": 3}, "name must be a text"),
        ({"gird": GRID}, "unknown key 'gird'; did you mean grid"),
    ],
)
def test_refused_layouts(tmp_path, change, message):
    path = tmp_path / "mine.yaml"
    grid = change.get("grid", GRID)
    text = f"grid: |\n  {grid.rstrip().replace(chr(10), chr(10) + '  ')}\n" if grid else ""
    rest = {key: value for key, value in change.items() if key != "grid"}
    path.write_text(text + (yaml.safe_dump(rest) if rest else "" if text else "grid: 3\n"))
    with pytest.raises(DocumentError, match=message.replace("line 1", "line 2").replace("line 3", "line 4")):
        load_kitchen(path)


def test_an_unknown_layout_names_the_shipped_ones():
    with pytest.raises(DocumentError, match=r"unknown layout 'cramped'; built-in layouts: asymmetric_advantages"):
        load_kitchen("cramped")


PUBLIC = '''{
    "grid":  """XXPXX
                O  2O
                T1  T
                XDPSX""",
    "start_all_orders" : [
        { "ingredients" : ["onion", "onion", "onion"]},
        { "ingredients" : ["tomato", "onion"]}
    ],
    "start_bonus_orders": [{ "ingredients" : ["onion", "tomato"]}],
    "rew_shaping_params": None
}
'''


def public(tmp_path: Path, text: str):
    path = tmp_path / "corner.layout"
    path.write_text(text)
    return load_kitchen(path)


def test_the_public_format(tmp_path):
    layout = public(tmp_path, PUBLIC)
    assert layout.name == "corner"
    assert layout.grid == ("XXPXX", "O   O", "T   T", "XDPSX")
    assert layout.starts == ((1, 2), (3, 1))
    assert layout.orders == ((3, 0), (1, 1))
    assert layout.bonus_orders == ((1, 1),)
    assert layout.shaping == {"potting": 3, "dish": 3, "soup": 5}
    assert (layout.values[3, 0], layout.cook_times[3, 0], layout.order_bonus) == (20, 20, 2)


@pytest.mark.parametrize(
    ("addition", "result"),
    [
        ('"cook_time": 5, "delivery_reward": 7,', {"values": (7, 7), "cook_times": (5, 5)}),
        ('"onion_value": 21, "tomato_value": 13,', {"values": (63, 34)}),
        ('"onion_time": 15, "tomato_time": 7,', {"cook_times": (45, 22)}),
        ('"recipe_values": [10, 30], "recipe_times": [4, 6],', {"values": (10, 30), "cook_times": (4, 6)}),
        ('"order_bonus": 5, "num_items_for_soup": 2, "start_order_list": None,', {"order_bonus": 5}),
    ],
)
def test_values_and_times_of_the_public_format(tmp_path, addition, result):
    layout = public(tmp_path, PUBLIC.replace('"rew_shaping', addition + ' "rew_shaping'))
    for name, expected in result.items():
        value = getattr(layout, name)
        assert (value if name == "order_bonus" else (value[3, 0], value[1, 1])) == expected


def test_shaped_rewards_of_the_public_format(tmp_path):
    value = '{"PLACEMENT_IN_POT_REW": 1, "SOUP_PICKUP_REWARD": 2, "POT_DISTANCE_REW": 0}'
    assert public(tmp_path, PUBLIC.replace("None", value)).shaping == {"potting": 1, "dish": 0, "soup": 2}


def test_a_file_of_2019_orders_any_soup(tmp_path):
    old = PUBLIC[: PUBLIC.index('"start_all')] + '"start_order_list": None, "cook_time": 20}'
    assert public(tmp_path, old).orders == SOUPS


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("None", "__import__('os').getcwd()", "corner.layout: a .layout file holds plain values only"),
        ("{\n", "[\n", r"corner.layout, line \d+: not a Python dictionary"),
        ("rew_shaping_params", "reward_shaping", "line 11: unknown key 'reward_shaping'"),
        ("None", '{"PLACEMENT": 3}', "line 11: unknown shaped reward 'PLACEMENT'"),
        ("None", '{"POT_DISTANCE_REW": 1}', "never pays it"),
        ("None", "3", "must be None or a dictionary"),
        ('"rew', '"start_order_list": ["onion"], "rew', "must be None: orders one after the other"),
        ('"rew', '"onion_value": 3, "rew', "give both onion_value and tomato_value"),
        ('"rew', '"recipe_times": [3], "rew', "needs one number for each of start_all_orders"),
        ('"rew', '"recipe_times": [3, 4], "cook_time": 4, "rew', "none for all soups beside"),
        ('"ingredients" : ["tomato"', '"ingreidents" : ["tomato"', "an order looks like"),
        ('[{ "ingredients" : ["onion", "tomato"]}]', "3", "line 10: start_bonus_orders must be a list of orders"),
        ("O  2O", "O  2Q", r"line 3, cell \(4, 1\): unknown symbol 'Q'"),
        ("XDPSX", "XDPSXX", r"line 2: grid row 0 has 5 cells, others 6"),
    ],
)
def test_refused_public_files(tmp_path, old, new, message):
    with pytest.raises(DocumentError, match=message):
        public(tmp_path, PUBLIC.replace(old, new))


def test_public_files_that_are_no_dictionary(tmp_path):
    with pytest.raises(DocumentError, match="holds one dictionary, not list"):
        public(tmp_path, "[1, 2]")
    with pytest.raises(DocumentError, match="cannot read layout file"):
        load_kitchen(tmp_path / "missing.layout")


ROWS = ["XXPXX", "O 1 O", "X 2 X", "XDXSX"]


@pytest.mark.parametrize(
    "grid",
    [
        ROWS,
        "\r\n".join(ROWS),
        "\n    ".join(ROWS),
        "\n" + "".join(f"    {row}\n" for row in ROWS) + "    ",
        "\n\n" + GRID + "\n",
    ],
)
def test_grids_in_code(grid):
    assert load_kitchen({"grid": grid}).grid == load_kitchen({"grid": GRID}).grid


def test_rows_of_a_list_are_named_by_their_lines(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("grid:\n" + "".join(f"- {row!r}\n" for row in ROWS))
    assert load_kitchen(path).grid == load_kitchen({"grid": GRID}).grid
    path.write_text(path.read_text().replace("X 2 X", "X 2 Q"))
    with pytest.raises(DocumentError, match=r"mine.yaml, line 4, cell \(4, 2\): .* \(row 3, column 5 of the grid\)"):
        load_kitchen(path)
    with pytest.raises(DocumentError, match="grid must be a text"):
        load_kitchen({"grid": ["XXPXX", 3]})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("None", "null"),
        ('"""XXPXX', '"""\n                XXPXX'),
        (PUBLIC[PUBLIC.index('"""') : PUBLIC.rindex('"""') + 3], '["XXPXX", "O  2O", "T1  T", "XDPSX"]'),
        (PUBLIC[PUBLIC.index('"""') : PUBLIC.rindex('"""') + 3], r'"XXPXX\nO  2O\nT1  T\nXDPSX"'),
        ("\n", "\r\n"),
        ("{\n", "\ufeff{\n"),
    ],
)
def test_other_spellings_of_the_public_format(tmp_path, old, new):
    path = tmp_path / "corner.layout"
    path.write_bytes(PUBLIC.replace(old, new, 1 if old == "{\n" else -1).encode())
    layout = load_kitchen(path)
    assert layout.grid == ("XXPXX", "O   O", "T   T", "XDPSX")
    path.write_bytes(path.read_bytes().replace(b"T1  T", b"T1  Q"))
    lines = path.read_text("utf-8-sig").splitlines()
    line = next(k for k, text in enumerate(lines, 1) if "T1  Q" in text)
    with pytest.raises(DocumentError, match=rf"line {line}, cell \(4, 2\): unknown symbol 'Q'.*row 3, column 5"):
        load_kitchen(path)


def test_settings_of_planners_are_ignored_with_a_note(tmp_path):
    with pytest.warns(UserWarning, match=r"corner.layout, line 11: counter_goals is a setting of a planner"):
        layout = public(tmp_path, PUBLIC.replace('"rew', '"counter_goals": [[1, 2]], "rew'))
    assert layout.orders == ((3, 0), (1, 1))


@pytest.mark.parametrize(
    ("addition", "message"),
    [
        ('"delivery_reward": "much",', "line 11: delivery_reward must be an integer"),
        ('"onion_value": "much", "tomato_value": 3,', "line 11: onion_value must be an integer"),
        ('"recipe_times": [3, -4],', r"recipe_times\.1 must be an integer"),
    ],
)
def test_messages_name_the_keys_of_the_public_file(tmp_path, addition, message):
    with pytest.raises(DocumentError, match=message):
        public(tmp_path, PUBLIC.replace('"rew', addition + '"rew'))
