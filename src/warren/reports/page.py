"""A report as one HTML file: no script, nothing to fetch, readable in the dark and on paper. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5a6472; --line: #d5dae1; --paper: #fff; --lane: #eef1f5;
  --ok: #1a7f4b; --warn: #a85b00; --err: #b3261e; --blue: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa5b4; --line: #39424e; --paper: #14181d;
  --lane: #222931; --ok: #52c48a; --warn: #f0a848; --err: #ff7b72; --blue: #6cb2ff; } }
body { margin: 2rem auto; padding: 0 1rem; max-width: 70rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .2rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
p.soft, .soft { color: var(--soft); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td:not(:last-child) { white-space: nowrap; }
th { color: var(--soft); font-weight: 600; } td.number, th.number { text-align: right; white-space: nowrap; }
.cards { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1rem 0; }
.card { border: 1px solid var(--line); border-radius: .5rem; padding: .6rem 1rem; min-width: 8rem; }
.card b { display: block; font-size: 1.6rem; }
.wide { overflow-x: auto; } svg { display: block; max-width: 100%; height: auto; }
svg text { fill: var(--soft); font: 12px system-ui, sans-serif; }
.lane { fill: var(--lane); } .axis { stroke: var(--line); } .WARN { fill: var(--warn); } .ERR { fill: var(--err); }
.line { fill: none; stroke: var(--blue); stroke-width: 1.5; } .line.second { stroke: var(--warn); }
.line.third { stroke: var(--ok); stroke-dasharray: 5 3; }
"""


def page(title: str, about: str, parts: Iterable[str]) -> str:
    """A whole file."""
    return (
        "<!doctype html>\n<html lang='en'>\n<head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n<p class='soft'>{escape(about)}</p>\n" + "\n".join(parts) + "\n</body>\n</html>\n"
    )


def section(title: str, *parts: str) -> str:
    """Something under a heading."""
    return f"<section><h2>{escape(title)}</h2>\n" + "\n".join(parts) + "</section>"


def text(words: str) -> str:
    """A paragraph."""
    return f"<p>{escape(words)}</p>"


def cards(figures: Iterable[tuple[str, str]]) -> str:
    """Figures, each over what it is."""
    found = (f"<div class='card'><b>{escape(figure)}</b>{escape(what)}</div>" for figure, what in figures)
    return f"<div class='cards'>{''.join(found)}</div>"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[str] = ()) -> str:
    """Rows under their titles; columns named in `numbers` are read from the right."""
    right = [" class='number'" if title in set(numbers) else "" for title in titles]
    head = "".join(f"<th{kind} scope='col'>{escape(title)}</th>" for title, kind in zip(titles, right, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{escape(cell)}</td>" for cell, kind in zip(row, right, strict=True)) + "</tr>"
        for row in rows
    )
    return f"<div class='wide'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
