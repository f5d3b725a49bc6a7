"""The tree of a plan search: numbers by hand."""

from __future__ import annotations

import math

import pytest

from collab_overcooked.policies.search.plan_tree import Node, PlanTree


def grown(rewards: list[tuple[int, float]], **options: object) -> PlanTree:
    """Return a tree of nodes given as parent and reward."""
    tree = PlanTree(**options)  # type: ignore[arg-type]
    for parent, reward in rewards:
        depth = tree.nodes[parent].depth + 1 if parent >= 0 else 0
        tree.add(Node(parent=parent, depth=depth, plan="", reward=reward))
    return tree


SMALL = [(-1, 0.4), (0, 0.6), (0, 0.2), (0, 0.5), (1, 0.3)]


def test_rewards_are_backed_up_as_means_to_the_root() -> None:
    tree = grown(SMALL)
    assert [node.visits for node in tree.nodes] == [5, 2, 1, 1, 1]
    assert [round(node.value, 6) for node in tree.nodes] == [0.4, 0.45, 0.2, 0.5, 0.3]
    assert [node.depth for node in tree.nodes] == [0, 1, 1, 1, 2]
    assert [node.reward for node in tree.path(4)] == [0.4, 0.6, 0.3]


def test_uct_is_value_plus_exploration() -> None:
    tree = grown(SMALL)
    assert tree.uct(1) == pytest.approx(0.45 + math.sqrt(math.log(5) / 2))
    assert tree.uct(3) == pytest.approx(0.5 + math.sqrt(math.log(5)))
    assert tree.uct(4) == pytest.approx(0.3 + math.sqrt(math.log(2)))
    assert grown(SMALL, w=0.0).uct(3) == 0.5


def test_released_code_divides_the_mean_once_more() -> None:
    tree = grown(SMALL, released=True)
    assert tree.uct(1) == pytest.approx(0.45 / 2 + math.sqrt(math.log(5) / 2))


def test_selection_descends_and_the_released_one_looks_at_all_below_the_root() -> None:
    assert grown(SMALL).select() == 3
    deep = [(-1, 0.4), (0, 0.4), (1, 0.6), (1, 0.5)]  # one way down; the root's child has been visited three times
    assert grown(deep).select() == 2
    below = [(-1, 0.1), (0, 0.9), (0, 0.1), (1, 0.0), (1, 0.0), (1, 0.0)]
    paper, released = grown(below), grown(below, released=True)
    assert paper.select() == 2
    assert released.select() == 2
    assert grown([(-1, 0.4)]).select() == grown([(-1, 0.4)], released=True).select() == 0


def test_solved_nodes_mark_their_ancestors() -> None:
    tree = grown([*SMALL, (4, 0.7)])
    assert [node.solved for node in tree.nodes] == [True, True, False, False, True, True]
    assert not any(node.solved for node in grown(SMALL).nodes)


def test_the_best_solved_leaf_wins_over_better_nodes_inside() -> None:
    tree = grown([(-1, 0.4), (0, 0.9), (0, 0.7), (0, 0.8), (1, 0.3)])
    assert tree.answer("best_leaf") == tree.answer("root") == 3


def test_both_fallbacks() -> None:
    tree = grown([(-1, 0.4), (0, 0.6), (0, 0.5), (0, 0.6)])
    assert tree.answer("root") == 0  # the released code returns its first draft, though all others are better
    assert tree.answer("best_leaf") == 1
