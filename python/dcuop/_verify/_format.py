"""How numbers and foreign text are written for people."""

from __future__ import annotations

import math
import unicodedata
from typing import Any, Tuple


def count(value: float) -> str:
    """41,000"""
    return f"{value:,.0f}"


def size(value: int) -> str:
    """2^20 for such a number, else 1,000"""
    return f"2^{value.bit_length() - 1}" if value >= 1024 and value & (value - 1) == 0 else count(value)


def number(value: float) -> str:
    """Three significant digits: 0.00123, 1.93, 81.2, 1,234"""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    digits = 2 - math.floor(math.log10(abs(value)))
    if digits > 6:
        return f"{value:.2e}"
    return f"{value:,.{max(0, digits)}f}"


def ulp(value: Any) -> str:
    """0.50, 1, 12, 3.4e+06; "?" for what is not known"""
    if value is None:
        return "?"
    if value >= 1e6:
        return f"{value:.1e}"
    return f"{value:,.0f}" if value >= 100 or (value >= 1 and value == int(value)) else f"{value:.2f}"


def percent(value: float) -> str:
    """81 %; tenths below ten"""
    return f"{100 * value:.{1 if abs(value) < 0.0995 else 0}f} %"


def exact_share(share: float) -> str:
    """A share of which 100 % means all, and nothing less: 99.99 %."""
    if share == 1.0:
        return "100 %"
    return f"{min(100 * share, 99.9999):.4f}".rstrip("0").rstrip(".") + " %"


def change(value: Any) -> str:
    """+3.1 %, -12 %"""
    return "?" if value is None else ("+" if value >= 0 else "") + percent(value)


def seconds(value: float) -> str:
    """4.1s, 2min 5s"""
    if value >= 60:
        return f"{int(value) // 60}min {int(value) % 60}s"
    return f"{value:.1f}s" if value >= 0.1 else f"{value:.3f}s"


def unit_of_time(value: float) -> Tuple[float, str]:
    """The unit that suits a time given in microseconds, and how many microseconds it has."""
    units = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"))
    return next(((factor, unit) for factor, unit in units if value >= factor), (1e-3, "ns"))


def microseconds(value: float) -> str:
    """A time given in microseconds: 3.21 µs, 1.20 ms, 4.50 s"""
    factor, unit = unit_of_time(value)
    return f"{number(value / factor)} {unit}"


def memory(value: float) -> str:
    """A number of bytes: 512 B, 12.0 MiB"""
    for factor, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if abs(value) >= factor:
            return f"{value / factor:.1f} {unit}"
    return f"{value:.0f} B"


def width(text: str) -> int:
    """Columns that a terminal gives the text: two for Chinese."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) != 0 for character in text)


def padded(text: str, columns: int) -> str:
    return text + " " * max(0, columns - width(text))


def printable(text: Any) -> str:
    """Text that cannot steer a terminal: each control character, and what has no glyph of its own, as an escape."""
    return "".join(
        character if character == " " or character.isprintable() else ascii(character)[1:-1] for character in str(text)
    )


def first_line(error: BaseException) -> str:
    """What an exception says, in one line: "RuntimeError: out of memory"."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
