"""Task graphs: what is in them, their texts, and the files."""

from __future__ import annotations

import os
import shutil

import pytest

from collab_overcooked.games.cuisineworld.engine.spec import levels, load_level
from collab_overcooked.games.cuisineworld.text.graph import (
    Node,
    TaskGraph,
    dot_text,
    draw_graph,
    find_graph,
    mermaid_text,
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
def test_texts_have_a_line_for_every_node_and_edge(name):
    graph = find_graph(name)
    dot, mermaid = dot_text(graph), mermaid_text(graph)
    assert dot.count(" -> ") == mermaid.count(" --> ") == len(graph.edges)
    for node in graph.nodes.values():
        assert f'[label="{node.label}"' in dot and f'"{node.label}"' in mermaid
    assert dot.startswith("digraph ") and dot.endswith("}\n") and mermaid.startswith("flowchart LR\n")


def test_quotes_in_names_stay_inside_their_labels():
    graph = TaskGraph('a"b', {"x": Node("x", 'say "hi"\\', "dish")}, ())
    assert 'label="say \\"hi\\"\\\\"' in dot_text(graph) and 'digraph "a\\"b" {' in dot_text(graph)
    assert "say &quot;hi&quot;" in mermaid_text(graph)


@pytest.mark.parametrize(("ending", "text"), [("dot", dot_text), ("mmd", mermaid_text)])
def test_texts_are_written_to_files(tmp_path, ending, text):
    draw_graph("level_5", tmp_path / f"graph.{ending}")
    assert (tmp_path / f"graph.{ending}").read_text() == text(find_graph("level_5"))


def test_a_level_file_can_be_drawn(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("extends: cookbook\nname: mine\nkitchen: [storage, servingtable, pan]\norders: [sauteedPork]\n")
    draw_graph(file, tmp_path / "mine.mmd")
    assert '"sauteedPork"' in (tmp_path / "mine.mmd").read_text()


def test_pictures_are_drawn_by_graphviz(tmp_path, monkeypatch):
    program = tmp_path / "dot"  # a stand-in that writes its option and what it reads
    program.write_text("#!/bin/sh\necho option $1\ncat\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    draw_graph("level_5", tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text() == "option -Tsvg\n" + dot_text(find_graph("level_5"))
    program.write_text("#!/bin/sh\necho no fonts >&2\nexit 1\n")
    with pytest.raises(ValueError, match=r"dot cannot draw .*: no fonts"):
        draw_graph("level_5", tmp_path / "other.svg")
    assert not (tmp_path / "other.svg").exists()


def test_pictures_without_graphviz_name_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match=r"apt install graphviz.*write \.dot or \.mmd"):
        draw_graph("level_5", tmp_path / "graph.svg")


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("name", ["level_9", "level_12"])
def test_graphviz_draws_every_name(tmp_path, name):
    draw_graph(name, tmp_path / "graph.svg")
    for node in find_graph(name).nodes.values():
        assert f">{node.label}<" in (tmp_path / "graph.svg").read_text()


def test_what_cannot_be_drawn_is_refused(tmp_path):
    with pytest.raises(ValueError, match="did you mean level_9"):
        draw_graph("levl_9", tmp_path / "out.dot")
    with pytest.raises(ValueError, match=r"should end in \.dot, \.mmd, \.svg, \.png, \.pdf"):
        draw_graph("level_9", tmp_path / "out.gif")
    with pytest.raises(ValueError, match="unknown dish 'pizza'"):
        task_graph(load_level("level_9"), ["pizza"])
