"""Plots as inline SVG: text and shapes with classes, whose colours are the page's (light, dark, printed).

The two series differ in colour, in line and in mark, so that neither colour nor its contrast is all there is.
"""

from __future__ import annotations

import math
from typing import Any, Callable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ._format import microseconds, percent, size, width
from ._html import escaped

Json = Mapping[str, Any]

_WIDTH, _HEIGHT = 640.0, 300.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 72.0, 16.0, 34.0, 52.0


class Series(NamedTuple):
    """One line of a plot of times."""

    name: str
    style: str  #: class: "a" or "b"
    points: Sequence[Tuple[float, Json]]  #: size, and {"median", "p10", "p90"}


class Bars(NamedTuple):
    """One series of a histogram."""

    name: str
    style: str
    counts: Sequence[int]


def histogram(title: str, axis: Tuple[str, str], labels: Sequence[str], series: Sequence[Bars]) -> str:
    """Shares of each series in the classes `labels`; `axis` names the horizontal and the vertical one. Trailing classes
    that are empty in every series are left out."""
    last = max((at for at in range(len(labels)) if any(one.counts[at] for one in series)), default=0)
    labels = labels[: max(last + 1, 3)]
    totals = [max(1, sum(one.counts)) for one in series]
    step = (_WIDTH - _LEFT - _RIGHT) / len(labels)
    bar = step * 0.8 / max(1, len(series))
    parts = _frame(axis)
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts += _horizontal(_scale(tick, 0.0, 1.0), f"{100 * tick:.0f} %")
    for at, label in enumerate(labels):
        left = _LEFT + step * at + step * 0.1
        label = label.replace("<=", "≤")
        parts.append(_text(_LEFT + step * (at + 0.5), _HEIGHT - _BOTTOM + 18, label, "middle"))
        for place, (one, total) in enumerate(zip(series, totals)):
            share = one.counts[at] / total
            # What is there is seen, be it one of a million.
            height = max(share * (_HEIGHT - _TOP - _BOTTOM), 1.5) if one.counts[at] else 0.0
            said = f"{one.name}, {label}: {one.counts[at]:,} ({percent(share)})"
            parts.append(
                f'<rect class="bar {one.style}" x="{left + place * bar:.1f}" y="{_HEIGHT - _BOTTOM - height:.1f}"'
                f' width="{bar * 0.94:.1f}" height="{height:.1f}"><title>{escaped(said)}</title></rect>'
            )
    parts += _legend([(one.name, one.style, "bar") for one in series])
    said = "; ".join(
        f"{one.name}: " + ", ".join(f"{label} {percent(n / total)}" for label, n in zip(labels, one.counts) if n)
        for one, total in zip(series, totals)
    )
    return _svg(title, said, parts)


def times(title: str, axis: Tuple[str, str], series: Sequence[Series]) -> Optional[str]:
    """Time against size, both logarithmic; times in microseconds. None where there is nothing to draw."""
    every = [point for one in series for point in one.points]
    values = [stat[name] for _, stat in every for name in ("p10", "p90") if stat[name] > 0]
    sizes = [n for n, _ in every if n > 0]
    if not values:
        return None
    low, high = _decades(min(values), max(values))
    least, most = math.log10(min(sizes)), math.log10(max(sizes))
    if most - least < 0.1:
        least, most = least - 0.5, most + 0.5

    def x_of(n: float) -> float:
        inner = _WIDTH - _LEFT - _RIGHT - 32
        return _LEFT + 16 + (math.log10(n) - least) / (most - least) * inner

    def y_of(us: float) -> float:
        return _scale(math.log10(max(us, 1e-9)), low, high)

    parts = _frame(axis)
    for decade in range(int(low), int(high) + 1):
        parts += _horizontal(_scale(decade, low, high), microseconds(10.0**decade).replace(".00", "").replace(".0", ""))
    taken = -100.0
    for n in sorted(set(sizes)):
        if x_of(n) - taken > 56:
            taken = x_of(n)
            parts.append(_text(taken, _HEIGHT - _BOTTOM + 18, size(int(n)), "middle"))
        parts.append(_line(x_of(n), _HEIGHT - _BOTTOM, x_of(n), _HEIGHT - _BOTTOM + 4, "axis"))
    for one in series:
        parts += _curve(one, x_of, y_of)
    parts += _legend([(one.name, one.style, "line") for one in series])
    said = "; ".join(
        f"{one.name}: " + ", ".join(f"{size(int(n))} {microseconds(stat['median'])}" for n, stat in one.points)
        for one in series
    )
    return _svg(title, said, parts)


def _curve(one: Series, x_of: Callable[[float], float], y_of: Callable[[float], float]) -> List[str]:
    points = sorted((n, stat) for n, stat in one.points if n > 0)
    upper = [f"{x_of(n):.1f},{y_of(stat['p90']):.1f}" for n, stat in points]
    lower = [f"{x_of(n):.1f},{y_of(stat['p10']):.1f}" for n, stat in reversed(points)]
    middle = [f"{x_of(n):.1f},{y_of(stat['median']):.1f}" for n, stat in points]
    parts = []
    if len(points) > 1:
        parts.append(f'<polygon class="band {one.style}" points="{" ".join(upper + lower)}"/>')
        parts.append(f'<polyline class="line {one.style}" points="{" ".join(middle)}"/>')
    for n, stat in points:
        said = f"{one.name}, {size(int(n))}: {microseconds(stat['median'])}"
        said += f" ({microseconds(stat['p10'])} – {microseconds(stat['p90'])})"
        parts.append(_mark(x_of(n), y_of(stat["median"]), one.style, said))
    return parts


def _mark(x: float, y: float, style: str, said: str = "") -> str:
    title = f"<title>{escaped(said)}</title>" if said else ""
    if style == "a":
        return f'<circle class="mark a" cx="{x:.1f}" cy="{y:.1f}" r="4">{title}</circle>'
    return f'<rect class="mark b" x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7">{title}</rect>'


def _decades(least: float, most: float) -> Tuple[float, float]:
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
    return float(low), float(high if high > low else low + 1)


def _scale(value: float, low: float, high: float) -> float:
    return _HEIGHT - _BOTTOM - (value - low) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)


def _frame(axis: Tuple[str, str]) -> List[str]:
    bottom = _HEIGHT - _BOTTOM
    return [
        _line(_LEFT, bottom, _WIDTH - _RIGHT, bottom, "axis"),
        _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 10, axis[0], "middle", "label"),
        f'<text class="label" text-anchor="middle" transform="translate(14 {(_TOP + bottom) / 2:.1f}) rotate(-90)">'
        f"{escaped(axis[1])}</text>",
    ]


def _horizontal(y: float, label: str) -> List[str]:
    return [_line(_LEFT, y, _WIDTH - _RIGHT, y, "grid"), _text(_LEFT - 8, y + 4, label, "end")]


def _line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str, style: str = "tick") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escaped(text)}</text>'


def _legend(names: Sequence[Tuple[str, str, str]]) -> List[str]:
    parts, x = [], _LEFT
    for name, style, shape in names:
        if shape == "line":
            parts += [_line(x, 14, x + 28, 14, f"line {style}"), _mark(x + 14, 14, style)]
        else:
            parts.append(f'<rect class="bar {style}" x="{x + 8:.1f}" y="7" width="14" height="14"/>')
        parts.append(_text(x + 36, 18, name, "start", "label"))
        x += 36 + 7.5 * width(name) + 28
    return parts


def _svg(title: str, said: str, parts: Sequence[str]) -> str:
    return (
        f'<svg class="plot" role="img" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}">'
        f"<title>{escaped(title)}</title><desc>{escaped(said)}</desc>{''.join(parts)}</svg>"
    )
