"""An HTML page as tests read it."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Dict, List, Optional, Tuple


class Page(HTMLParser):
    """Text, elements and attributes of a page, and whether each element is closed where it has to be."""

    VOID = {"meta", "link", "br"}
    SHAPES = {"line", "rect", "circle", "polyline", "polygon"}

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.tags: List[Tuple[str, Dict[str, Optional[str]]]] = []
        self._open: List[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: List[Tuple[str, Optional[str]]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: List[Tuple[str, Optional[str]]]) -> None:
        assert tag in self.SHAPES
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.text += data + " "
