"""CuisineWorld once more, slow and obvious: dicts, strings and the rules as the specification tells them.

An oracle for tests. It shares no code with the package; it reads the ``Level`` of words that a YAML file holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

SILENT = ""


class NaiveWorld:
    """One kitchen being played.

    Args:
        level: Words of the level file.
        n_agents: Number of agents.
        timing: Interval and lifetimes.
        draw: Returns the next order's name.
        max_orders: Orders that can be open.
    """

    def __init__(self, level: Any, n_agents: int, timing: Any, draw: Callable[[], str], max_orders: int = 6) -> None:
        self.level, self.timing, self.draw, self.max_orders = level, timing, draw, max_orders
        self.base = set(level.base_ingredients)
        self.dishes = {order.name: list(order.items) for order in level.orders}
        self.recipes = self.reachable()
        self.tools = {}
        for name, kind in zip(level.locations, level.kitchen, strict=True):
            tool = level.tools[kind]
            ready = tool.role == "storage" or tool.open
            self.tools[name] = {"kind": kind, "tool": tool, "content": [], "busy": 0, "ready": ready, "seen": set()}
        start = next(name for name, tool in self.tools.items() if tool["tool"].role == "table")
        self.agents = [{"at": start, "item": None, "busy": 0, "seen": None} for _ in range(n_agents)]
        self.orders: list[list[Any]] = []
        self.t = self.timer = self.completed = self.failed = self.expired = self.refused = self.noops = 0
        self.done: list[str] = []
        self.basics: Counter[str] = Counter()
        self.products: Counter[str] = Counter()
        self.mixtures: Counter[Any] = Counter()
        self.add_order()

    def reachable(self) -> list[Any]:
        names: list[str] = []
        rest = [item for name, items in self.dishes.items() for item in [name, *items]]
        while rest:
            name = rest.pop()
            if name not in self.base and name not in names:
                names.append(name)
                rest += self.level.recipes[name].ingredients
        return [self.level.recipes[name] for name in names]

    def tree(self, name: str) -> set[str]:
        below = self.level.recipes[name].ingredients if name not in self.base else ()
        return {name}.union(*(self.tree(part) for part in below))

    def add_order(self) -> str:
        name = self.draw()
        self.orders.append([self.timing.lifetimes[name], name])
        for item in self.tree(name):
            if item in self.base:
                self.basics[item] += 1
            else:
                self.products[item] += 1
                recipe = self.level.recipes[item]
                self.mixtures[recipe.tool, tuple(sorted(recipe.ingredients))] += 1
        return name

    def resolve(self) -> list[tuple[int, str, str]]:
        lost = [order for order in self.orders if order[0] == 0]
        self.expired += len(lost)
        self.failed += bool(lost)
        rest, served = [], []
        stock = {name: list(tool["content"]) for name, tool in self.tools.items() if tool["tool"].role == "table"}
        for remaining, name in (order for order in self.orders if order[0] != 0):
            expected = Counter(self.dishes[name])
            table = next((t for t, content in stock.items() if not expected - Counter(content)), None)
            if table is None:
                rest.append([remaining, name])
                continue
            for item in self.dishes[name]:
                stock[table].remove(item)
            served.append((remaining, name, table))
        for table, content in stock.items():
            self.tools[table]["content"] = content
        self.orders = rest
        self.completed += len(served)
        self.done += [name for _, name, _ in served]
        return served

    def matching(self, tool: dict[str, Any], content: list[str]) -> Any:
        for recipe in self.recipes:
            if recipe.tool == tool["kind"] and sorted(recipe.ingredients) == sorted(content):
                return recipe
        return None

    def problems(self, i: int, verb: str, place: str, item: str | None) -> list[str]:
        agent, tool = self.agents[i], self.tools[place]
        me = f"agent{i}"
        if verb == "goto":
            return [SILENT] if agent["busy"] else []
        if agent["at"] != place:
            return [f"{me} is not located in {place}"]
        tired = [f"{me} is occupied therefore cannot take any actions other than noop"] if agent["busy"] else []
        return getattr(self, f"problems_of_{verb}")(me, agent, tool, place, item, tired)

    def problems_of_get(self, me, agent, tool, place, item, tired) -> list[str]:
        if not tool["ready"]:
            return [f"{me} is not allowed to pick up from {place} at this point"]
        result = list(tired)
        if agent["item"]:
            result.append(f"{me} is holding objects, therefore cannot get objects from the tool")
        if tool["busy"]:
            result.append(f"{place} is occupied, therefore {me} cannot get objects from the tool")
        if result:
            return result
        if tool["tool"].role == "storage":
            return [] if item in self.base else [f"{me} can only pickup base ingredients from the storage"]
        return [] if tool["content"] else [f"{place} is empty, you cannot get anything from there"]

    def problems_of_put(self, me, agent, tool, place, item, tired) -> list[str]:
        held, role = agent["item"], tool["tool"].role
        if held and role == "table" and held not in self.dishes:
            return [f"{held} is not any dish needed in this level and cannot be put on {place}"]
        if held and role == "cook" and held not in tool["content"]:
            grown = {*tool["content"], held}
            if not any(r.tool == tool["kind"] and grown <= set(r.ingredients) for r in self.recipes):
                return [f"putting {held} into {place} will result in waste"]
        full = role == "cook" and len(tool["content"]) >= tool["tool"].capacity
        outcome = list(tired)
        if not held:
            outcome.append(f"{me} is not holding objects, therefore cannot put objects into the tool")
        if tool["busy"]:
            outcome.append(f"{place} is occupied, therefore cannot put objects into it")
        if full and held not in tool["content"]:
            outcome.append(f"{place} reaches maximum capacity")
        return outcome

    def problems_of_activate(self, me, agent, tool, place, item, tired) -> list[str]:
        results = list(tired)
        if agent["item"]:
            results.append(f"{me} is holding objects, therefore cannot activate tools")
        if tool["busy"]:
            results.append(f"{place} is occupied, therefore cannot be activated")
        if not tool["content"]:
            results.append(f"{place} is empty, therefore cannot be activated")
        if not results and self.matching(tool, tool["content"]) is None:
            results.append(f"activating {place} will result in waste")
        return results

    def carry_out(self, i: int, verb: str, place: str, item: str | None) -> None:
        agent, tool = self.agents[i], self.tools[place]
        if verb == "goto":
            agent["at"] = place
            return
        tool["seen"] = set()
        if verb == "activate":
            tool["content"] = [self.matching(tool, tool["content"]).product]
            tool["busy"], tool["ready"] = tool["tool"].busy, True
            if tool["tool"].busy_agent:
                agent["busy"] = tool["tool"].busy
            return
        agent["seen"] = None
        if verb == "get":
            if tool["tool"].role == "storage":
                agent["item"] = item
            else:
                agent["item"], tool["content"], tool["ready"] = tool["content"][0], [], tool["tool"].open
            return
        held, agent["item"] = agent["item"], None
        if tool["tool"].role == "table" or (tool["tool"].role == "cook" and held not in tool["content"]):
            tool["content"] = [*tool["content"], held]

    def read(self, command: str) -> tuple[str | None, Any]:
        """Return the problem of a command, or None and what it says."""
        parts = command.split("_")
        if len(parts) not in (2, 3, 4):
            return f"not enough arguments for action {command}", None
        if parts[0] not in ("noop", "goto", "get", "put", "activate"):
            return f"{parts[0]} is not in the list of supported actions", None
        try:
            number = int(parts[1].replace("agent", ""))
        except ValueError:
            return "agent id not found", None
        if len(parts) == 4 and parts[0] not in ("get", "put"):
            return SILENT, None
        if len(parts) > 2 and parts[-1] not in self.tools:
            return f"for agent{number}, tool {parts[-1]} is not in the current game level", None
        return None, (number, parts[0], parts[-1], parts[2] if len(parts) == 4 else None)

    def step(self, commands: list[str]) -> dict[str, Any]:
        read = [self.read(command) for command in commands]
        problem = next((problem for problem, _ in read if problem is not None), None)
        replies = [what for _, what in read if what]
        if problem is None and len({what[0] for what in replies}) < len(replies):
            problem = "agent ids cannot be the same"
        feedback: list[str] = []
        if problem is not None:
            ok = [False] * len(commands)
            feedback = [problem] if problem else []
        else:
            if all(verb == "noop" for _, verb, _, _ in replies):
                feedback.append("None of the agents performed any actions which is not normal.")
            ok = [self.try_one(*what, feedback) for what in replies]
        self.refused += ok.count(False)
        for thing in [*self.agents, *self.tools.values()]:
            thing["busy"] = max(0, thing["busy"] - 1)
        served = self.resolve()
        self.t += 1
        drawn = self.tick()
        reward = -0.05
        for remaining, _, _ in served:
            reward += 50 + remaining
        if all(ok):
            reward += 0.02
        reward += self.shaping()
        return {"ok": ok, "feedback": feedback, "reward": reward, "served": served, "drawn": drawn}

    def try_one(self, number: int, verb: str, place: str, item: str | None, feedback: list[str]) -> bool:
        i = number % len(self.agents)
        if verb == "noop":
            self.noops += 1
            return True
        problems = self.problems(i, verb, place, item)
        feedback += [problem for problem in problems[:1] if problem]
        if not problems:
            self.carry_out(i, verb, place, item)
        return not problems

    def tick(self) -> str | None:
        drawn = None
        self.timer += 1
        for order in self.orders:
            order[0] -= order[0] != -1
        if self.timer == self.timing.interval:
            self.timer = 0
            if len(self.orders) < self.max_orders:
                drawn = self.add_order()
        self.orders.sort()
        return drawn

    def shaping(self) -> float:
        total = 0.0
        if not self.orders:
            return total
        for agent in self.agents:
            item = agent["item"]
            if item and self.basics[item] > 0 and agent["seen"] != item:
                agent["seen"] = item
                self.basics[item] -= 1
                total += 0.1
        filled = [tool for tool in self.tools.values() if tool["content"]]
        for tool in filled:
            key, text = (tool["kind"], tuple(sorted(tool["content"]))), "&".join(tool["content"])
            if self.mixtures[key] > 0 and text not in tool["seen"]:
                tool["seen"].add(text)
                self.mixtures[key] -= 1
                total += 0.5
        for tool in filled:
            text = "&".join(tool["content"])
            if self.products[text] > 0 and text not in tool["seen"]:
                tool["seen"].add(text)
                self.products[text] -= 1
                total += 1.0
        return total

    def scene(self) -> dict[str, Any]:
        return {
            "t": self.t,
            "timer": self.timer,
            "orders": [[name, remaining] for remaining, name in self.orders],
            "agents": [[agent["at"], agent["item"], agent["busy"]] for agent in self.agents],
            "tools": {name: [tool["content"], tool["busy"], tool["ready"]] for name, tool in self.tools.items()},
            "counts": [self.completed, self.failed, self.expired, self.refused, self.noops],
            "done": self.done,
        }
