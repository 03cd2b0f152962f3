"""Read HTML pages and Markdown in tests."""

from html.parser import HTMLParser
from typing import Any


class _Addresses(HTMLParser):
    """Collects the tags of a page and the addresses it loads."""

    LOADING = ("src", "href", "xlink:href", "srcset", "data", "poster")

    def __init__(self):
        super().__init__()
        self.found = []
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.found += [value for name, value in attrs if name in self.LOADING]


def outside_addresses(html):
    """Return the addresses a page refers to, other than its own parts and embedded data."""
    reader = _Addresses()
    reader.feed(html)
    return [address for address in reader.found if not address.startswith(("data:", "#"))]


def tags(html):
    """Return the names of all elements of a page, in order."""
    reader = _Addresses()
    reader.feed(html)
    return reader.tags


class Elements(HTMLParser):
    """The elements of a page: tag, attributes, text, and the form that holds it."""

    VOID = ("input", "meta", "link", "br", "img")

    def __init__(self, html):
        super().__init__()
        self.elements: list[dict[str, Any]] = []
        self._open: list[dict[str, Any]] = []
        self.feed(html)
        assert [element["tag"] for element in self._open] == []

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute of {tag} is given twice"
        within = [element for element in self._open if element["tag"] == "form"]
        element = {
            "tag": tag,
            "attrs": dict(attrs),
            "text": "",
            "form": within[-1] if within else None,
        }
        self.elements.append(element)
        if tag not in self.VOID and not (self.get_starttag_text() or "").endswith("/>"):
            self._open.append(element)

    def handle_endtag(self, tag):
        if (self.get_starttag_text() or "").endswith("/>") and self._open[-1]["tag"] != tag:
            return
        assert self._open.pop()["tag"] == tag

    def handle_data(self, data):
        for element in self._open:
            element["text"] += data

    def find(self, *tags):
        """Return the elements with one of the tags."""
        return [element for element in self.elements if element["tag"] in tags]

    @property
    def shape(self):
        """Tags and names of attributes, without anything that the data may fill in."""
        return [(element["tag"], list(element["attrs"])) for element in self.elements]


def markdown_tables(text):
    """Return every table of a Markdown text as rows of cells, its rule as second row."""
    blocks, block = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            block.append([cell.strip() for cell in line.strip("|").split("|")])
        elif block:
            blocks.append(block)
            block = []
    return blocks
