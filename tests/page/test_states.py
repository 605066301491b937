"""The page when things are not as usual: no token, no answer, nothing there, behind a proxy, in a hidden tab."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.page.sites import Health, Site, behind_prefix
from tests.support.browser import PATIENCE_MS, Open, Watched, shot, violations
from warren.serve.access import hash_token
from warren.serve.page import BUILT
from warren.serve.page import Page as Files

expect.set_options(timeout=PATIENCE_MS)

TOKEN = "a-token-that-only-this-test-knows"
LARGEST_BYTES = 150_000
GROUP = "ui/clusters/big/groups/service-00000"
FAILED = {"code": "internal_error", "message": "Warren failed to answer this.", "hint": ""}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    running = Site(tmp_path, groups=30)
    yield running
    running.close()


@pytest.fixture
def closed_site(tmp_path: Path) -> Iterator[Site]:
    hashes = [hash_token(TOKEN)]
    running = Site(tmp_path, groups=3, security={"read-tokens": hashes, "write-tokens": hashes})
    yield running
    running.close()


def hold(page: Page, url: str | re.Pattern[str]) -> list[Route]:
    """What is asked for there gets no answer until it is let go."""
    held: list[Route] = []
    page.route(url, lambda route: held.append(route))  # noqa: PLW0108  # Playwright writes on what it is given
    return held


def let_go(page: Page, held: list[Route]) -> None:
    for route in held:
        route.continue_()
    page.unroute_all()


def test_a_token_is_asked_for_and_kept_in_the_tab(closed_site: Site, watched: Watched, axe: str) -> None:
    watched.expected = ("401",)
    page = watched.open(closed_site.url)
    expect(page.get_by_role("heading", name="This Warren asks for a token")).to_be_visible()
    expect(page.get_by_text("read-tokens")).to_be_visible()
    shot(page, "token-light")
    assert violations(page, axe) == []
    page.get_by_label("Token").fill("열쇠")
    page.get_by_role("button", name="Use this token").click()
    expect(page.locator("input:invalid")).to_be_visible()
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Use this token").click()
    expect(page.get_by_text("The token is not known.")).to_be_visible()
    page.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    expect(page.locator("[data-cluster=big]")).to_be_visible()
    page.reload()
    expect(page.locator("[data-cluster=big]")).to_be_visible()
    assert page.evaluate("sessionStorage.getItem('warren.token')") == TOKEN
    page.get_by_role("button", name="Forget the token").click()

    expect(page.get_by_role("heading", name="This Warren asks for a token")).to_be_visible()


def test_when_warren_is_away_the_page_says_so_and_comes_back_by_itself(site: Site, watched: Watched, axe: str) -> None:
    watched.expected = ("ERR_CONNECTION", "ERR_EMPTY", "Failed to load")
    page = watched.open(site.url + "ui/clusters/big/groups")
    expect(page.locator("[role=gridcell] .name").first).to_be_visible()
    site.stop()
    expect(page.get_by_role("alert")).to_contain_text("Warren does not answer. Shown is what was known last.")
    expect(page.locator("[role=gridcell] .name").first).to_be_visible()
    shot(page, "away-light")
    assert violations(page, axe) == []
    site.start()

    expect(page.get_by_role("alert")).to_have_count(0)


def test_an_answer_that_is_none_stops_nothing(site: Site, open_page: Open) -> None:
    page = open_page(site.url + "ui/clusters/big/groups")
    expect(page.locator("[role=gridcell] .name").first).to_be_visible()
    page.route("**/api/v1/**", lambda route: route.fulfill(body="<html>", content_type="text/html"))
    expect(page.get_by_role("alert")).to_contain_text("Warren does not answer")
    page.unroute_all()

    expect(page.get_by_role("alert")).to_have_count(0)


def test_another_partition_is_never_shown_with_the_commits_of_the_one_before(site: Site, open_page: Open) -> None:
    page = open_page(f"{site.url}{GROUP}?topic=topic-00&partition=0")
    expect(page.get_by_role("region", name="Commits of topic-00 0").locator("tbody tr")).to_have_count(3)
    held = hold(page, re.compile("partitions/1$"))
    page.get_by_role("grid", name="Partitions").get_by_text("topic-00 1", exact=True).click()
    panel = page.locator(".panel", has=page.get_by_role("heading", name="Commits of topic-00 1"))
    expect(panel.get_by_label("Loading")).to_be_visible()
    expect(panel.locator("tbody tr")).to_have_count(0)
    let_go(page, held)

    commits = page.get_by_role("region", name="Commits of topic-00 1")  # the panel has rows of a legend, too
    expect(commits.locator("tbody tr")).to_have_count(3)


def test_a_list_that_is_still_of_other_filters_says_so(site: Site, open_page: Open) -> None:
    page = open_page(site.url + "ui/clusters/big/groups")
    grid = page.get_by_role("grid", name="Groups")
    expect(grid).to_have_attribute("aria-busy", "false")
    held = hold(page, re.compile("status=ERR"))
    page.get_by_role("button", name="ERR").click()
    expect(grid).to_have_attribute("aria-busy", "true")
    let_go(page, held)

    expect(grid).to_have_attribute("aria-busy", "false")
    expect(grid.locator("[role=gridcell] .name")).to_have_count(3)


def test_a_history_that_cannot_be_read_is_told_in_its_chart_alone(site: Site, watched: Watched, axe: str) -> None:
    watched.expected = ("500",)
    page = watched.open(site.url)
    page.route("**/api/v1/history", lambda route: route.fulfill(json={"is_kept": True}))
    page.route(re.compile("/history.since="), lambda route: route.fulfill(status=500, json={"error": FAILED}))
    page.goto(f"{site.url}{GROUP}?range=7d")
    expect(page.get_by_text("The history could not be read.")).to_have_count(2)
    shot(page, "no-history-light")

    expect(page.get_by_role("alert")).to_have_count(0)
    assert violations(page, axe) == []


def test_what_is_copied_is_copied_without_a_secure_page_too(site: Site, open_page: Open) -> None:
    page = open_page(site.url + GROUP, permissions=["clipboard-read", "clipboard-write"])
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})")
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    told = page.evaluate("delete navigator.clipboard && navigator.clipboard.readText()")

    assert told == f"curl -s '{site.url}api/v1/clusters/big/groups/service-00000'"


def test_when_nothing_can_be_copied_the_button_says_so(site: Site, open_page: Open) -> None:
    page = open_page(site.url + GROUP)
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.evaluate("document.execCommand = () => false")
    page.get_by_role("button", name="Copy").first.click()

    expect(page.get_by_role("button", name="Could not copy")).to_be_visible()


def test_a_silence_is_set_once_however_often_it_is_clicked(site: Site, open_page: Open) -> None:
    page = open_page(site.url + GROUP)
    page.get_by_role("button", name="Silence", exact=True).click()
    held = hold(page, "**/api/v1/silences")
    page.get_by_role("button", name="Silence it").click()
    expect(page.get_by_role("button", name="Silence it")).to_be_disabled()
    let_go(page, held)

    expect(page.get_by_role("dialog")).to_contain_text("It is quiet until")


def test_a_korean_reader_is_told_in_korean_what_is_not_there(site: Site, watched: Watched) -> None:
    watched.expected = ("404",)
    page = watched.open(site.url + "ui/clusters/big/groups/service-0000", locale="ko-KR")

    expect(page.get_by_text("클러스터 big에 그룹 service-0000이(가) 없습니다.")).to_be_visible()
    expect(page.get_by_text("혹시 `service-000")).to_be_visible()


def test_a_group_that_is_not_there_is_told_with_a_hint(site: Site, watched: Watched, axe: str) -> None:
    watched.expected = ("404",)
    page = watched.open(site.url + "ui/clusters/big/groups/service-0000")

    expect(page.get_by_text("The cluster `big` has no group `service-0000`.")).to_be_visible()
    expect(page.get_by_text("Did you mean")).to_be_visible()
    assert violations(page, axe) == []


def test_an_address_that_means_nothing_leads_back(site: Site, open_page: Open, axe: str) -> None:
    page = open_page(site.url + "ui/no/such/view")
    expect(page.get_by_role("heading", name="There is nothing here")).to_be_visible()
    assert violations(page, axe) == []
    page.get_by_role("link", name="To the overview").click()

    expect(page.locator("[data-cluster=big]")).to_be_visible()


def test_while_warren_catches_up_it_says_how_far_it_is(site: Site, open_page: Open, axe: str) -> None:
    reading = site.state._reading.modules["big"]
    reading.caught_up, reading.behind, reading.positions = False, {0: 12_345}, {0: 0}
    page = open_page(site.url)

    expect(page.locator("[data-cluster=big]")).to_contain_text("12,345 records of the offsets topic to read")
    expect(page.get_by_role("progressbar")).to_be_visible()
    assert violations(page, axe) == []


def test_a_cluster_that_cannot_be_reached_is_told_with_the_error(site: Site, open_page: Open, axe: str) -> None:
    site.queries["heads-big"] = Health("retrying", "no broker answers at 10.0.0.1:9092", 3)
    page = open_page(site.url)

    expect(page.locator("[data-cluster=big] .ready")).to_have_text("unreachable")
    expect(page.locator("[data-cluster=big]")).to_contain_text("no broker answers at 10.0.0.1:9092")
    expect(page.locator("[data-cluster=big]")).to_contain_text("restarted 3 times")
    assert violations(page, axe) == []


def test_nobody_is_told_to_wait_for_a_cluster_that_cannot_be_reached(tmp_path: Path, open_page: Open) -> None:
    site = Site(tmp_path)
    site.queries["heads-big"] = Health("retrying", "no broker answers", 3)
    page = open_page(site.url)
    expect(page.locator("[data-cluster=big] .ready")).to_have_text("unreachable")
    expect(page.get_by_role("heading", name="Latest changes")).to_be_visible()

    expect(page.get_by_text("Spark is starting")).to_have_count(0)
    page.close()
    site.close()


def test_of_several_clusters_the_worst_groups_come_together_and_one_is_chosen(site: Site, open_page: Open) -> None:
    site.add_cluster("small", groups=11)
    page = open_page(site.url)
    expect(page.locator(".card")).to_have_count(2)
    expect(page.locator(".worst-row")).to_have_count(5)
    expect(page.locator(".worst-row small", has_text="small")).to_have_count(2)
    page.get_by_role("link", name="Groups").click()
    page.get_by_label("Cluster").select_option("small")

    expect(page.get_by_role("status").filter(has_text="11 groups")).to_be_visible()
    assert page.url == f"{site.url}ui/clusters/small/groups"


def test_a_cluster_whose_groups_cannot_be_read_hides_no_others(site: Site, watched: Watched) -> None:
    watched.expected = ("500",)
    site.add_cluster("small", groups=11)
    page = watched.open(site.url + "ui/about")
    page.route("**/clusters/small/groups?*", lambda route: route.fulfill(status=500, json={"error": FAILED}))
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_text("The groups of small could not be read.")).to_be_visible()
    expect(page.locator(".worst-row")).to_have_count(3)
    page.unroute_all()

    expect(page.locator(".worst-row")).to_have_count(5)


def test_groups_that_there_was_no_room_for_are_a_click_away(site: Site, open_page: Open) -> None:
    site.add_cluster("small", groups=300)
    page = open_page(site.url)
    page.get_by_role("link", name="8 more in trouble").click()
    expect(page.get_by_role("status").filter(has_text="30 of 300 groups")).to_be_visible()

    assert page.url == f"{site.url}ui/clusters/small/groups?status=ERR&status=WARN"


def test_without_groups_the_page_says_what_to_wait_for(tmp_path: Path, open_page: Open, axe: str) -> None:
    empty = Site(tmp_path)
    try:
        page = open_page(empty.url + "ui/clusters/big/groups")
        expect(page.get_by_role("heading", name="No group yet")).to_be_visible()
        assert violations(page, axe) == []
    finally:
        empty.close()


def test_without_clusters_the_page_says_what_to_do(site: Site, open_page: Open) -> None:
    site.clusters.clear()
    page = open_page(site.url)

    expect(page.get_by_role("heading", name="No cluster is configured")).to_be_visible()


def test_it_works_behind_a_proxy_that_puts_a_path_before_it(site: Site, open_page: Open) -> None:
    with behind_prefix(site.url, "/tools/warren") as url:
        page = open_page(url + "ui/clusters/big/groups?sort=name")
        page.get_by_role("link", name="service-00000").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("service-00000")
        assert page.url == f"{url}ui/clusters/big/groups/service-00000"
        page.reload()

        expect(page.get_by_role("heading", level=1)).to_have_text("service-00000")
        page.close()  # it would go on asking a proxy that is gone


def test_a_hidden_tab_asks_for_nothing(site: Site, open_page: Open) -> None:
    page = open_page(site.url)
    expect(page.locator(".worst-row").first).to_be_visible()
    _hide(page, hidden=True)
    page.wait_for_load_state("networkidle")
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.wait_for_timeout(5_000)  # longer than between two looks: that nothing happens can only be waited for
    assert asked == []
    with page.expect_request("**/api/v1/clusters"):
        _hide(page, hidden=False)


def _hide(page: Page, *, hidden: bool) -> None:
    page.evaluate(
        """hidden => {
            Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        hidden,
    )


def test_the_whole_page_is_small() -> None:
    files = Files().files
    sent = sum(len(gzip.compress(file.body, 9)) for file in files.values())

    assert BUILT.exists()
    assert "index.html" in files
    assert sent < LARGEST_BYTES
