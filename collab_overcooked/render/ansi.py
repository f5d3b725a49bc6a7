"""Text renderer of drawings: the grid, then a line for each card and note."""

from __future__ import annotations

from collab_overcooked.render.model import Bar, Board, Card, Drawing, PanelColumn, Span, TextLine

BAR = 10  # characters of a bar


def draw_ansi(drawing: Drawing) -> str:
    """Return a drawing as lines of text."""
    lines: list[str] = []
    for part in drawing.parts:
        lines += _grid(part) if isinstance(part, Board) else _cards(part)
    lines += [_line(note) for note in drawing.notes]
    return "\n".join([*lines, *drawing.listing])


def _grid(board: Board) -> list[str]:
    texts = {at: cell.text for at, cell in board.cells if cell.text}
    if not texts:
        return []
    texts |= {at: cook.text for at, cook in board.cooks}
    wide = max(map(len, texts.values())) + 1
    columns, rows = (round(size) for size in board.size)
    return ["".join(texts[x, y].ljust(wide) for x in range(columns)).rstrip() for y in range(rows)]


def _cards(column: PanelColumn) -> list[str]:
    return [_card(card) for card in column.cards]


def _card(card: Card) -> str:
    text = ""
    for line in card.lines:
        if isinstance(line, Bar):
            text += f" [{'#' * round(BAR * line.share):.<{BAR}}]"
        else:
            text += ("; " if text else "") + _line(line)
    icon = card.icon.text if card.icon else ""
    return f"{icon} {text}".strip()


def _line(line: TextLine) -> str:
    return "  ".join(filter(None, (_spans(line.left), _spans(line.right))))


def _spans(spans: tuple[Span, ...]) -> str:
    return " ".join(filter(None, (span.text for span in spans)))
