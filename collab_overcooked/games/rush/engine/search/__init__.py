"""Exact search for the best play of one Rush episode, by depth-first search over the game's own rules.

The search decides slot by slot what the worker of a seat does; seats that are not its own do nothing. Five observations
keep it small without losing any optimum. Written as moves, *takes before spices before cooking before idling, each in
the order of the slots*, the alphabetically first of the best plans is never cut off, as each of the replacements below
would give an equally good plan that comes earlier:

- Within a turn nothing but "ingredients before cooking" ties actions together, so moves come in ascending order; that
  makes workers and agents interchangeable.
- All orders aimed at must be finished, so it does not matter which of those with ingredients is cooked, nor on which
  stove: one move stands for all. The same goes for spices as long as no spicebag can run out of any.
- Orders that ask for the same from here on, and areas that offer the same, are interchangeable.
- Nobody idles who could cook, or could take what an area has in plenty: it has to be done anyway.
- No action that would ruin an order helps any other one.

A state is given up when counting shows that work, action spaces or stock cannot suffice in the time left (the bound is
admissible, as each count ignores all other limits), or when an equivalent one was searched in vain with at least as
much time left.
"""

from __future__ import annotations

from collab_overcooked.games.rush.engine.search.problem import BUDGET
from collab_overcooked.games.rush.engine.search.solver import Solution, Solver, start_of

__all__ = ["BUDGET", "Solution", "Solver", "start_of"]
