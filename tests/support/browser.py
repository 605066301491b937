"""A browser for the tests of the page: pages that remember what the browser said against them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

PATIENCE_MS = 60_000
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
DESK = {"width": 1360, "height": 860}
AXE_RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")

PAGE_WORK = ("ScriptDuration", "RecalcStyleDuration", "LayoutDuration")

Open = Callable[..., Page]


class Watched:
    """Pages of one test, and what the browser said against them."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.complaints: list[str] = []
        self.expected: tuple[str, ...] = ()

    def open(self, url: str, **options: Any) -> Page:
        """A new page in a browser that remembers nothing."""
        context = self._browser.new_context(**{"viewport": DESK, "locale": "en-GB", **options})
        context.set_default_timeout(PATIENCE_MS)
        self._contexts.append(context)
        page = context.new_page()
        page.on("console", lambda told: self._complain(told.text) if told.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self._complain(str(error)))
        own = url.split("/")[2]
        page.on("request", lambda one: self._complain(one.url) if one.url.split("/")[2] != own else None)
        page.goto(url)
        return page

    def _complain(self, text: str) -> None:
        if not any(one in text for one in self.expected):
            self.complaints.append(text)

    def close(self) -> None:
        for context in self._contexts:
            context.close()


def shot(page: Page, name: str) -> None:
    """Take a picture for those who want to look: WARREN_SHOTS names a directory."""
    if directory := os.environ.get("WARREN_SHOTS"):
        page.screenshot(path=Path(directory) / f"{name}.png", full_page=True)


def violations(page: Page, axe: str, rules: Sequence[str] = AXE_RULES) -> list[str]:
    """What axe finds that keeps some people from reading the page."""
    page.evaluate(axe)
    found = page.evaluate("rules => axe.run({runOnly: rules})", list(rules))["violations"]
    return [f"{one['id']}: {node['html']}" for one in found for node in one["nodes"]]


def page_work_ms(page: Page) -> Callable[[], float]:
    """A clock of the CPU time that the page has used for scripts, styles and layout, in ms.

    It stands still while others have the CPU, and leaves out painting, which is slow without a GPU.
    """
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def read() -> float:
        metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
        return sum(float(metrics[name]) for name in PAGE_WORK) * 1000

    return read
