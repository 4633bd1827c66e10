"""Write the small pieces of HTML that notebooks show: tables, foldable texts, and a frame around them.

The pieces bring their own style and follow the colours of the notebook, light or dark. Every text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape as _escape

from ..records import record

_STYLE = (
    "<style>.weft{font-size:13px;line-height:1.45}.weft table{border-collapse:collapse;margin:.4em 0}"
    ".weft th,.weft td{text-align:left;padding:.15em .9em .15em 0;vertical-align:top;background:none}"
    ".weft th{font-weight:600;border-bottom:1px solid #8888}"
    ".weft td.n{text-align:right;font-variant-numeric:tabular-nums}"
    ".weft pre{font-size:12px;line-height:1.35;overflow:auto;max-height:30em;margin:.3em 0;background:none}"
    ".weft summary{cursor:pointer;opacity:.8}"
    ".weft .b{display:inline-block;height:.7em;background:#3b82c4;border-radius:2px}"
    ".weft .dim{opacity:.6}</style>"
)


@record
class Html:
    """Text that is HTML already. Everything else is escaped."""

    text: str


Cell = str | int | Html


def escape(text: object) -> str:
    """Escape a text for HTML."""
    return _escape(str(text), quote=True)


def frame(title: str, parts: Iterable[Html]) -> str:
    """Put parts under a title."""
    return f'<div class="weft">{_STYLE}<b>{escape(title)}</b>{"".join(part.text for part in parts)}</div>'


def table(heads: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Html:
    """Write a table. Numbers stand to the right."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return Html(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def _cell(cell: Cell) -> str:
    if isinstance(cell, Html):
        return f"<td>{cell.text}</td>"
    return f"<td{' class=n' if isinstance(cell, int) else ''}>{escape(cell)}</td>"


def paragraph(text: str) -> Html:
    """Write a line of text."""
    return Html(f"<div>{escape(text)}</div>")


def code(text: str) -> Html:
    """Write code as it is."""
    return Html(f"<pre>{escape(text)}</pre>")


def folded(title: str, part: Html) -> Html:
    """Write a part that is shown when its title is clicked."""
    return Html(f"<details><summary>{escape(title)}</summary>{part.text}</details>")


def bar(share: float) -> Html:
    """Draw a share from 0 to 1 as a bar."""
    return Html(f'<span class="b" style="width:{120 * min(1.0, max(0.0, share)):.0f}px"></span>')
