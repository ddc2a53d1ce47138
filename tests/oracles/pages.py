"""A page read by a browser's rules: what it holds, and whether it is whole and alone."""

import re
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "input", "img", "hr"}
HOSTILE = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=y>",
    "{{ 7 * 7 }}",
    "]]>--><b>",
    "a\u202eb\x00",
)


class Page(HTMLParser):
    """What a page holds; refuses elements that are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open, self.ids, self.anchors, self.tags = [], [], [], []
        self.words, self.links, self.headings = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        held = dict(attrs)
        self.tags.append(tag)
        self.ids += [held["id"]] if "id" in held else []
        self.anchors += [held["href"][1:]] if held.get("href", "").startswith("#") else []
        self.links += [held[key] for key in ("src", "href", "action", "xlink:href") if key in held]
        assert not [key for key in held if key.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def check(text: str) -> Page:
    page = Page(text)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert set(page.anchors) <= set(page.ids)
    assert not re.search(r"https?:|//[a-z0-9]+\.|[^a-zA-Z]url\((?!#)|@import|@font-face", text)
    assert all(link.startswith("#") for link in page.links)
    return page
