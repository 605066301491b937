"""One browser, one Warren with the demo's shop, and pages that fail a test when the browser complains."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.page.sites import Site, shop
from tests.support.browser import ARGUMENTS, Open, Watched
from tests.support.programs import CHROMIUM, provide
from tests.support.warren import StartWarren
from warren.embedded.broker import Broker


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    provide(CHROMIUM, print)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM.path(), args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="package")
def shop_url(tmp_path_factory: pytest.TempPathFactory, start_warren: StartWarren) -> Iterator[str]:
    """The page of a Warren that watches the demo's shop."""
    with (
        Broker(tmp_path_factory.mktemp("page-kafka"), "4.3.1") as broker,
        shop(tmp_path_factory.mktemp("page"), broker, start_warren) as warren,
    ):
        yield f"http://{warren.address}/"


@pytest.fixture(scope="package")
def many_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page of a Warren with 5,000 groups."""
    site = Site(tmp_path_factory.mktemp("many"), groups=5_000)
    yield site.url
    site.close()


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


@pytest.fixture(scope="package")
def axe() -> str:
    return (Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js").read_text()
