"""A page as a parser reads it: its elements, attributes and texts."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"meta"})


@dataclass
class ParsedPage(HTMLParser):
    """The elements of a page. Raises AssertionError where end tags do not match."""

    page: str
    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    """Text between two tags."""
    others: list[str] = field(default_factory=list)
    """Comments, processing instructions and declarations."""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []
        self.feed(self.page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs)
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.others.append(data)

    def handle_pi(self, data: str) -> None:
        self.others.append(data)

    def handle_decl(self, decl: str) -> None:
        self.others.append(decl)

    @property
    def text(self) -> str:
        """All text of the page."""
        return "".join(self.texts)

    def shape(self) -> set[tuple[str, str]]:
        """Return the attributes in use, each with its element, and the elements without any."""
        return {(tag, name) for tag, attributes in self.elements for name in attributes or {"": ""}}
