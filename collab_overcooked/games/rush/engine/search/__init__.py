"""Exact search for the best play of one Rush episode, by depth-first search over the game's played rules.

The search decides slot by slot what a seat's worker does; seats that it does not play do nothing. Five observations
reduce it without losing any optimum. With moves ordered as *ingredients before spices before cooking before idling,
each in slot order*, the lexicographically first optimal plan is never pruned, because each replacement below would give
an equally good plan that comes earlier:

- Within a turn, the only dependency is "ingredients before cooking", so moves are tried in ascending order; that
  makes workers and agents interchangeable.
- All target orders must be finished, so it does not matter which order is cooked (once it has its ingredients) nor on
  which stove: one move represents them all. The same holds for spices as long as no spicebag can run out of any.
- Orders with the same remaining needs, and areas that offer the same, are interchangeable.
- A worker never idles if it could cook, or take goods that are plentiful: that has to be done anyway.
- No action that ruins an order helps another order.

A state is pruned if counting shows that workers, action spaces or stock cannot suffice in the time left (the bound is
admissible, as each count ignores all other limits), or if the search of an equivalent state failed with at least as
much time left.
"""

from __future__ import annotations

from .problem import BUDGET
from .solver import Solution, Solver, start_of

__all__ = ["BUDGET", "Solution", "Solver", "start_of"]
