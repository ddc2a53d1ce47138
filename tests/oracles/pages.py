"""A page read by a browser's rules: what it holds, and whether it is whole and alone."""

import base64
import hashlib
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
        self.programs, self.sheets, self.policy = [], [], ""
        self.kind = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        held = dict(attrs)
        self.tags.append(tag)
        self.ids += [held["id"]] if "id" in held else []
        self.anchors += [held["href"][1:]] if held.get("href", "").startswith("#") else []
        self.links += [held[key] for key in ("src", "href", "action", "xlink:href") if key in held]
        assert not [key for key in held if key.startswith("on") or key == "style"]
        if held.get("http-equiv") == "Content-Security-Policy":
            self.policy = held["content"]
        self.kind = held.get("type", "") if tag == "script" else ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["style"]:
            self.sheets.append(data)
        elif self.open[-1:] == ["script"]:
            if not self.kind:
                self.programs.append(data)
        else:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def check(text: str) -> Page:
    page = Page(text)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert set(page.anchors) <= set(page.ids)
    own = [*page.programs, *page.sheets]
    apart = text
    for part in own:  # a program may name a namespace: what it may load is in the policy
        apart = apart.replace(part, "")
    assert not re.search(r"https?:|//[a-z0-9]+\.|[^a-zA-Z]url\((?!#)|@import|@font-face", apart)
    assert not re.search(r"[^a-zA-Z]url\((?!#)|@import|@font-face", "".join(page.sheets))
    assert all(link.startswith("#") for link in page.links)
    assert not {"base", "embed", "iframe", "link", "object"} & set(page.tags)
    assert not {"script", "style", "img"} & set(Page(text[: text.index("Content-Security-Policy")]).tags)
    check_policy(page)
    return page


def check_policy(page: Page) -> None:
    """Nothing runs or is applied but the programs and sheets that stand there, each named by its hash."""
    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))
    assert rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    assert rules.pop("img-src") == "data: blob:"
    assert set(rules.pop("script-src").split()) == {_hash(text) for text in page.programs}
    assert set(rules.pop("style-src").split()) == {_hash(text) for text in page.sheets}
    assert rules == {}


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
