"""HTML from data: everything that is not made here is escaped."""

from __future__ import annotations

import html
from typing import Iterable, NamedTuple, Optional, Sequence, Union


class Markup(NamedTuple):
    """Text that is HTML already."""

    html: str


Content = Union[str, int, Markup]


class Column(NamedTuple):
    """A column of a table."""

    title: str
    style: str = ""  #: class of its cells: "num", "value", "wrap"


def escaped(content: Content) -> str:
    """As HTML. What XML and HTML cannot hold (control characters, halves of surrogates) is shown as an escape."""
    if isinstance(content, Markup):
        return content.html
    return html.escape(
        "".join(
            character
            if character in "\t\n" or (character >= " " and not 0x7F <= ord(character) <= 0x9F and not _odd(character))
            else ascii(character)[1:-1]
            for character in str(content)
        ),
        quote=True,
    )


def _odd(character: str) -> bool:
    # Surrogates; and what turns the direction of text around, which would show another text than there is
    # (https://trojansource.codes).
    return "\ud800" <= character <= "\udfff" or character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def tag(name: str, *content: Content, style: str = "", attributes: str = "") -> Markup:
    """One element; `style` is its class, `attributes` HTML of ours."""
    inside = "".join(escaped(one) for one in content)
    of_class = f' class="{escaped(style)}"' if style else ""
    return Markup(f"<{name}{of_class}{' ' if attributes else ''}{attributes}>{inside}</{name}>")


def joined(parts: Iterable[Markup]) -> Markup:
    return Markup("\n".join(part.html for part in parts))


def table(columns: Sequence[Column], rows: Iterable[Sequence[Content]], style: str = "") -> Markup:
    """A table that scrolls by itself where the page is too narrow for it."""
    head = tag("tr", *(tag("th", one.title, style=one.style if one.style == "num" else "") for one in columns))
    body = [tag("tr", *(tag("td", cell, style=one.style) for one, cell in zip(columns, cells))) for cells in rows]
    return tag("div", tag("table", tag("thead", head), tag("tbody", joined(body)), style=style), style="scroll")


def facts(pairs: Iterable[Sequence[Content]], style: str = "facts") -> Markup:
    """A table of names and values."""
    rows = [tag("tr", tag("th", name, attributes='scope="row"'), tag("td", value)) for name, value in pairs]
    return tag("div", tag("table", tag("tbody", joined(rows)), style=style), style="scroll")


def details(summary: Content, *content: Content, open_: bool = False) -> Markup:
    return tag("details", tag("summary", summary), *content, attributes="open" if open_ else "")


def page(title: str, language: str, style: str, content: Markup, icon: Optional[str] = None) -> str:
    """A whole page that asks for nothing beside itself, and may run no script."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        f'<!DOCTYPE html>\n<html lang="{escaped(language)}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n"
        f'<link rel="icon" href="{icon or "data:,"}">\n'
        f"<style>{style}</style>\n</head>\n<body>\n{content.html}\n</body>\n</html>\n"
    )


def section(title: str, *content: Content) -> Markup:
    """A part of the page."""
    return tag("section", tag("h2", title[:1].upper() + title[1:]), *content)


def figure(title: str, svg: str) -> Markup:
    """A plot under its title."""
    return tag("figure", tag("figcaption", title), tag("div", Markup(svg), style="scroll"))
