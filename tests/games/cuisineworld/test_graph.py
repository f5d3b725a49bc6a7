"""Task graphs: what is in them, how they are laid out, and the files."""

from __future__ import annotations

from itertools import pairwise

import pytest

from collab_overcooked.games.cuisineworld.engine.spec import levels, load_level
from collab_overcooked.games.cuisineworld.text.graph import (
    _crossings,
    _spread,
    draw_graph,
    find_graph,
    layout,
    task_graph,
)

COOKBOOK = load_level("level_3").recipes


def test_a_dish_is_what_its_recipes_say():
    graph = find_graph("Hopper")
    kinds = {key: node.kind for key, node in graph.nodes.items()}
    assert [key for key, kind in kinds.items() if kind == "ingredient"] == ["tomato", "lettuce", "beef", "bread"]
    assert [key for key, kind in kinds.items() if kind == "dish"] == ["Hopper"]
    assert graph.nodes["step:Hopper"].label == "mixer"
    assert ("sauteedBeef", "step:Hopper") in graph.edges and ("step:sauteedBeef", "sauteedBeef") in graph.edges
    assert len(graph.edges) == 4 + 4 + 3  # of the mixer, after the four steps, and into the other three


def test_a_level_shares_what_its_dishes_share():
    graph = find_graph("level_9")
    assert graph.title == "level_9"
    assert sum(node.kind == "dish" for node in graph.nodes.values()) == 3
    assert sum(key == "sauteedBeef" for key, _ in graph.edges) == 3


def test_an_order_that_is_an_ingredient_too_is_a_dish():
    graph = find_graph("level_2")
    assert graph.nodes["salmonSashimi"].kind == "dish"
    assert ("salmonSashimi", "step:mixedSashimi") in graph.edges


def test_a_missing_tool_is_marked_in_the_level_only():
    assert find_graph("level_12").nodes["step:frenchFries"].label == "no fryer"
    assert find_graph("level_12_fryer").nodes["step:frenchFries"].label == "fryer"
    assert find_graph("frenchFries").nodes["step:frenchFries"].kind == "step"


@pytest.mark.parametrize("name", [*levels(), *COOKBOOK])
def test_layouts_run_from_left_to_right_without_overlap(name):
    graph = find_graph(name)
    placed = layout(graph)
    assert set(placed.places) == set(graph.nodes) and set(placed.routes) == set(graph.edges)
    for start, end in graph.edges:
        assert placed.places[start][0] < placed.places[end][0]
        route = placed.routes[start, end]
        assert route[0] == placed.places[start] and route[-1] == placed.places[end]
        assert all(after[0] - before[0] == 1 for before, after in pairwise(route))
    columns: dict[float, list[float]] = {}
    for x, y in {*placed.places.values(), *(point for route in placed.routes.values() for point in route)}:
        columns.setdefault(x, []).append(y)
    for rows in columns.values():
        assert all(after - before > 0.999 for before, after in pairwise(sorted(rows)))


def test_ingredients_stand_directly_before_their_first_use():
    graph = find_graph("level_9")
    places = layout(graph).places
    for key, node in graph.nodes.items():
        if node.kind == "ingredient":
            assert min(places[end][0] for start, end in graph.edges if start == key) == places[key][0] + 1


def test_crossings_are_counted():
    assert _crossings([["a", "b"], ["c", "d"]], [("a", "d"), ("b", "c")]) == 1
    assert _crossings([["a", "b"], ["d", "c"]], [("a", "d"), ("b", "c")]) == 0


@pytest.mark.parametrize(
    ("targets", "places"),
    [([0.0, 5.0], [0.0, 5.0]), ([1.0, 1.0], [0.5, 1.5]), ([3.0, 0.0, 0.0], [0.0, 1.0, 2.0]), ([], [])],
)
def test_rows_are_spread_as_little_as_possible(targets, places):
    assert _spread(targets) == pytest.approx(places)


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_files_are_written(tmp_path, ending):
    draw_graph("level_5", tmp_path / f"graph.{ending}")
    assert (tmp_path / f"graph.{ending}").stat().st_size > 1000


def test_an_svg_holds_every_name_and_is_the_same_each_time(tmp_path):
    draw_graph("level_12", tmp_path / "one.svg")
    draw_graph(load_level("level_12"), tmp_path / "two.svg")
    text = (tmp_path / "one.svg").read_text()
    assert text == (tmp_path / "two.svg").read_text()
    for node in find_graph("level_12").nodes.values():
        assert f">{node.label}<" in text


def test_a_level_file_can_be_drawn(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("extends: cookbook\nname: mine\nkitchen: [storage, servingtable, pan]\norders: [sauteedPork]\n")
    draw_graph(file, tmp_path / "mine.svg")
    assert ">sauteedPork<" in (tmp_path / "mine.svg").read_text()


def test_what_cannot_be_drawn_is_refused(tmp_path):
    with pytest.raises(ValueError, match="did you mean level_9"):
        draw_graph("levl_9", tmp_path / "out.svg")
    with pytest.raises(ValueError, match=r"should end in \.svg, \.png, \.pdf"):
        draw_graph("level_9", tmp_path / "out.gif")
    with pytest.raises(ValueError, match="unknown dish 'pizza'"):
        task_graph(load_level("level_9"), ["pizza"])
