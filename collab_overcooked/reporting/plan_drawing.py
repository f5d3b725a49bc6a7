"""Search trees of joint plans from records, as text and as SVG. Text written by policies is always escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from collab_overcooked.metrics.intervals import mean_ci
from collab_overcooked.reporting.escaping import chart_label, html_text
from collab_overcooked.reporting.result_table import Column, ResultTable

WIDTH, LINE, GAP, MARGIN = 300, 16, 26, 12  # width of a box, line height, gap between boxes, margin; pixels
MAX_LINES = 9  # per box
MAX_CHARACTERS = 44  # per line
INDENT = "\u00a0" * 4  # SVG collapses normal spaces
COLOURS = {"chosen": "#2f7d4f", "solved": "#5a86b8", "other": "#8a8a8a"}

Update = Mapping[str, Any]


def all_updates(record: Mapping[str, Any]) -> list[Update]:
    """Return all plan updates of an episode, over all teams, by timestep."""
    updates = [update for team_updates in record.get("plan_updates", {}).values() for update in team_updates]
    return sorted(updates, key=lambda update: update["timestep"])


def update_at(record: Mapping[str, Any], step: int) -> Update:
    """Return the last search at or before a timestep, or the first search if there is none.

    Raises:
        ValueError: If no plan was searched in the episode.
    """
    searched = [update for update in all_updates(record) if update["searched"]]
    if not searched:
        raise ValueError("plan_updates: no plan was searched in this episode; policies such as cots do that")
    before = [update for update in searched if update["timestep"] <= step]
    return before[-1] if before else searched[0]


def summary(update: Update) -> str:
    """Summarise a search in one sentence."""
    rating = "no rating" if update["rating"] is None else f"rating {update['rating']}"
    return (
        f"Timestep {update['timestep']}, asked for by seat {update['seat']} ({update['trigger']}), {rating}: "
        f"{len(update['nodes'])} plans, {update['calls']} calls, {update['characters']} characters, "
        f"depth {update['depth']}."
    )


# ------------------------------------------------------------------------------------------- text


def tree_text(update: Update) -> str:
    """Return a search tree as text, each plan below its parent."""
    nodes = update["nodes"]
    children: dict[int, list[int]] = {}
    for k, node in enumerate(nodes):
        children.setdefault(node["parent"], []).append(k)

    def lines(k: int, depth: int) -> Iterator[str]:
        node, indent = nodes[k], "    " * depth
        mark = " <- chosen" if k == update["chosen"] else ""
        solved = ", solved" if node["solved"] else ""
        numbers = f"reward {node['reward']:.2f}, N {node['visits']}, V {node['value']:.2f}{solved}"
        yield f"{indent}[{k}] {numbers}{mark}"
        yield from (f"{indent}    {line}" for line in node["plan"].splitlines())
        yield from (f"{indent}    - {' '.join(message.split())}" for message in node["messages"])
        for child in children.get(k, ()):
            yield from lines(child, depth + 1)

    body = [line for root in children.get(-1, ()) for line in lines(root, 0)]
    return "\n".join([summary(update), "", *body, "", "Plan that is carried out:", update["plan"]])


# ------------------------------------------------------------------------------------------- SVG


def draw_tree(update: Update) -> str:
    """Return a search tree as SVG: one box per plan, one row per depth, the chosen plan in green."""
    nodes = update["nodes"]
    boxes = [_box_lines(k, node) for k, node in enumerate(nodes)]
    left, depth = _columns(nodes)
    heights = [len(lines) * LINE + 14 for lines in boxes]
    rows = [max((heights[k] for k in range(len(nodes)) if depth[k] == d), default=0) for d in range(max(depth) + 1)]
    tops = [MARGIN + sum(rows[:d]) + 2 * GAP * d for d in range(len(rows))]
    places = [(MARGIN + left[k] * (WIDTH + GAP), tops[depth[k]]) for k in range(len(nodes))]
    width = 2 * MARGIN + (max(left) + 1) * (WIDTH + GAP)
    height = tops[-1] + rows[-1] + MARGIN
    parts = []
    for k, node in enumerate(nodes):
        if node["parent"] >= 0:
            x, y = places[node["parent"]]
            start = f"{x + WIDTH / 2:.0f},{y + heights[node['parent']]}"
            end = f"{places[k][0] + WIDTH / 2:.0f},{places[k][1]}"
            parts.append(f'<path d="M{start} L{end}" stroke="#999" fill="none"/>')
    for k, node in enumerate(nodes):
        kind = "chosen" if k == update["chosen"] else "solved" if node["solved"] else "other"
        parts.append(_box(places[k], heights[k], boxes[k], COLOURS[kind]))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" font-family="sans-serif" font-size="12" role="img">'
    )
    return "\n".join([head, f"<title>{html_text(summary(update))}</title>", *parts, "</svg>"])


def _columns(nodes: Sequence[Mapping[str, Any]]) -> tuple[list[float], list[int]]:
    """Return column and depth of each node; leaves get consecutive columns, parents the mean of their children."""
    left, depth = [0.0] * len(nodes), [0] * len(nodes)
    children: list[list[int]] = [[] for _ in nodes]
    for k, node in enumerate(nodes):
        depth[k] = depth[node["parent"]] + 1 if node["parent"] >= 0 else 0
        if node["parent"] >= 0:
            children[node["parent"]].append(k)
    ahead, leaves = [k for k, node in enumerate(nodes) if node["parent"] < 0][::-1], 0
    while ahead:
        k = ahead.pop()
        ahead += children[k][::-1]
        if not children[k]:
            left[k], leaves = float(leaves), leaves + 1
    for k in range(len(nodes) - 1, -1, -1):  # children follow their parents in the list
        if children[k]:
            left[k] = sum(left[c] for c in children[k]) / len(children[k])
    return left, depth


def _box_lines(k: int, node: Mapping[str, Any]) -> list[str]:
    solved = ", solved" if node["solved"] else ""
    lines = [f"[{k}] reward {node['reward']:.2f}  N {node['visits']}  V {node['value']:.2f}{solved}"]
    for text in (*node["plan"].splitlines(), *(f"- {message}" for message in node["messages"])):
        first, *more = (chart_label(part) for part in text.split("; "))
        lines += [_cut(part) for part in (first, *(f"{INDENT}{part}" for part in more))]
    return lines[:MAX_LINES]


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"


def _box(place: tuple[float, int], height: int, lines: Sequence[str], colour: str) -> str:
    x, y = place
    spans = "".join(
        f'<tspan x="{x + 8:.0f}" y="{y + 18 + LINE * k}" font-weight="{"normal" if k else "bold"}">'
        f"{html_text(line)}</tspan>"
        for k, line in enumerate(lines)
    )
    frame = f'<rect x="{x:.0f}" y="{y}" width="{WIDTH}" height="{height}" rx="6" fill="#fff" stroke="{colour}" '
    return f'{frame}stroke-width="2"/><text fill="#222">{spans}</text>'


def plan_page(update: Update, title: str) -> str:
    """Return a self-contained HTML page with one search tree."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><title>{html_text(title)}</title>'
        f"<style>body{{font-family:sans-serif;margin:24px}}</style></head><body><h1>{html_text(title)}</h1><p>{html_text(summary(update))}</p>{draw_tree(update)}</body></html>\n"
    )


# ------------------------------------------------------------------------------------------- several episodes


def costs_of(records: Sequence[Mapping[str, Any]]) -> ResultTable | None:
    """Return the cost of plan search by team, or None if no plan was updated."""
    teams: dict[str, list[Update]] = {}
    for record in records:
        teams.setdefault(" + ".join(record["team"].values()), []).extend(all_updates(record))
    rows = []
    for team, updates in teams.items():
        if updates:
            searched = [update for update in updates if update["searched"]]
            means = [
                mean_ci([float(value(update)) for update in searched])
                for value in (lambda u: len(u["nodes"]), lambda u: u["calls"], lambda u: u["characters"])
            ]
            rows.append((team, len(updates), len(searched), *means))
    heads = [Column("Team"), Column("looks at the plan", "number"), Column("searches", "number")]
    heads += [Column(name, "estimate", 1) for name in ("plans each", "calls each", "characters each")]
    return ResultTable(tuple(heads), tuple(rows), "Plan search") if rows else None


def report_section(records: Sequence[Mapping[str, Any]]) -> str:
    """Return the HTML section on plan search: costs and one tree; empty if no plan was searched."""
    costs = costs_of(records)
    first = next((r for r in records if any(u["searched"] for u in all_updates(r))), None)
    if costs is None or first is None:
        return ""
    largest = max(
        (update for update in all_updates(first) if update["searched"]), key=lambda update: len(update["nodes"])
    )
    tree = f"<p>{html_text(summary(largest))}</p><div style='overflow-x:auto'>{draw_tree(largest)}</div>"
    return f"<h2>Plan search</h2>{costs.html()}<details><summary>A tree</summary>{tree}</details>"
