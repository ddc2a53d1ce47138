"""A headless Chromium that tries the page of a release, and what a person sees and does there.

`launched` gives a browser; an `ExplorerPage` is one page in it, with every request and error that it made.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, sync_playwright

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
#: A page that is not there after so long has failed; other work may slow the machine down.
PATIENCE_MS = 60_000


def program() -> str | None:
    """Where Chromium is."""
    return shutil.which("chromium")


@contextmanager
def launched(*more: str) -> Iterator[Browser]:
    """The installed Chromium, with a profile of its own that goes with it."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=[*ARGUMENTS, *more])
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class ExplorerPage:
    """A page that is open. Attributes: requests: all addresses it asked for. errors: of its programs."""

    page: Page
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @classmethod
    def opened(cls, browser: Browser, path: Path, link: str = "", **options: Any) -> "ExplorerPage":
        """The page of a file, when its charts are drawn."""
        options = {"viewport": {"width": 1280, "height": 900}, "accept_downloads": True} | options
        page = browser.new_page(**options)
        page.set_default_timeout(PATIENCE_MS)
        found = cls(page)
        page.on("request", lambda request: found.requests.append(request.url))
        page.on("pageerror", lambda error: found.errors.append(str(error)))
        page.on("console", lambda line: found.errors.append(line.text) if line.type == "error" else None)
        page.on("dialog", lambda dialog: (found.errors.append(dialog.message), dialog.dismiss()))
        page.goto(path.as_uri() + link)
        page.wait_for_selector("#marginalia-explorer[data-ready]", state="attached")
        return found

    def asked_elsewhere(self) -> list[str]:
        """Requests other than for the page itself, and for what it made of its own."""
        return [url for url in self.requests[1:] if not url.startswith(("blob:", "data:"))]

    def chart(self, name: str) -> Locator:
        """The card of a chart, drawn even where it is out of sight."""
        card = self.page.locator("article.chart-card").filter(
            has=self.page.get_by_role("heading", name=name, exact=True)
        )
        card.scroll_into_view_if_needed()
        return card

    def value(self, chart: str, label: str) -> Locator:
        """The button of one value of a chart."""
        exact = re.compile(f"^{re.escape(label)}$")
        return self.chart(chart).locator("button.row").filter(has=self.page.locator(".label", has_text=exact))

    def click(self, chart: str, label: str) -> None:
        """Choose a value, or take it back; cards that come into sight above may have moved its own away."""
        row = self.value(chart, label)
        row.evaluate("row => row.scrollIntoView({block: 'center', behavior: 'instant'})")
        row.click()

    def rows(self, chart: str) -> dict[str, tuple[int | None, int | None]]:
        """Of each value of a chart, as far as it is drawn, the estimated and the actual count."""
        script = """card => [...card.querySelectorAll('button.row')].map(row => [
            row.querySelector('.label').textContent,
            row.querySelector('.figures .estimated')?.textContent ?? null,
            row.querySelector('.figures .actual')?.textContent ?? null])"""
        found = self.chart(chart).evaluate(script)
        return {label: (number(estimated), number(actual)) for label, estimated, actual in found}

    def ranges(self, chart: str) -> dict[str, tuple[int, int]]:
        """Of each value with a range, its ends, as a screen reader says them."""
        script = """card => [...card.querySelectorAll('button.row')].map(row => [
            row.querySelector('.label').textContent, row.querySelector('.unseen').textContent])"""
        found = {}
        for label, words in self.chart(chart).evaluate(script):
            between = re.search(r"between ([\d,]+) and ([\d,]+)", words)
            if between:
                found[label] = (int(between[1].replace(",", "")), int(between[2].replace(",", "")))
        return found

    def chosen(self) -> list[str]:
        """What is selected, as the chips say it."""
        return [
            text.removesuffix("×").strip() for text in self.page.locator(".chips .chip").all_inner_texts()
        ]

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def ask(self, question: str) -> None:
        self.page.locator(".question input").fill(question)
        self.page.locator(".question input").press("Enter")

    def answer(self) -> str:
        """The number of the answer, as it is written."""
        return self.page.locator(".answer output").inner_text()


def number(text: str | None) -> int | None:
    """A number as the page writes it."""
    return None if text is None else int(text.replace(",", "").replace(".", "").replace("−", "-"))
