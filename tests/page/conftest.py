"""One browser, one Warren with the demo's shop, and pages that fail a test when the browser complains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.page.sites import Site, shop
from tests.support.programs import CHROMIUM, provide
from warren.embedded.broker import Broker

PATIENCE_MS = 60_000
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
DESK = {"width": 1360, "height": 860}

Open = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    provide(CHROMIUM, print)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM.path(), args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def shop_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page of a Warren that watches the demo's shop."""
    with (
        Broker(tmp_path_factory.mktemp("page-kafka"), "4.3.1") as broker,
        shop(tmp_path_factory.mktemp("page"), broker) as warren,
    ):
        yield f"http://{warren.address}/"


@pytest.fixture(scope="session")
def many_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page of a Warren with 5,000 groups."""
    site = Site(tmp_path_factory.mktemp("many"), groups=5_000)
    yield site.url
    site.close()


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


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    """Every test: no error, no warning, no broken rule of the content policy, no request to anybody else."""
    pages = Watched(browser)
    yield pages
    pages.close()
    assert pages.complaints == []


@pytest.fixture
def open_page(watched: Watched) -> Open:
    return watched.open


@pytest.fixture(scope="session")
def axe() -> str:
    return (Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js").read_text()
