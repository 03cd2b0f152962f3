"""Read HTML pages and Markdown in tests."""

from html.parser import HTMLParser


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
