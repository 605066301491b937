"""Every view of the page, in both themes, on a desk and on a phone: what it shows, and that everybody can read it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.page.sites import SECRET
from tests.support.browser import AXE_RULES, PATIENCE_MS, Open, shot, violations
from tests.support.waiting import eventually

expect.set_options(timeout=PATIENCE_MS)
pytestmark = pytest.mark.timeout(400)  # the first test waits until Spark is up and every group shows its state

PHONE = {"width": 390, "height": 844}
VIEWS = {
    "overview": ("", ".worst-row"),
    "groups": ("ui/clusters/test/groups", "[role=gridcell] .name"),
    "group": ("ui/clusters/test/groups/orders-stalled", ".chart canvas"),
    "topics": ("ui/clusters/test/topics", "[role=gridcell] .name"),
    "topic": ("ui/clusters/test/topics/orders", "table .status"),
    "incidents": ("ui/incidents", ".timeline .status"),
    "notifiers": ("ui/notifiers", "table td"),
    "config": ("ui/config", ".keys dd"),
    "about": ("ui/about", ".positions li"),
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_can_be_read_by_everybody_in_both_themes(shop_url: str, open_page: Open, axe: str, view: str) -> None:
    path, sign = VIEWS[view]
    page = open_page(shop_url + path)
    expect(page.locator(sign).first).to_be_visible()
    for theme, rules in (("light", AXE_RULES), ("dark", ["color-contrast"])):  # all else is the same in both
        page.emulate_media(color_scheme=theme)
        shot(page, f"{view}-{theme}")
        assert violations(page, axe, rules) == [], theme


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_fits_on_a_phone(shop_url: str, open_page: Open, axe: str, view: str) -> None:
    path, sign = VIEWS[view]
    page = open_page(shop_url + path, viewport=PHONE)
    expect(page.locator(sign).first).to_be_visible()
    shot(page, f"{view}-phone")

    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert violations(page, axe) == []


def test_the_overview_has_the_worst_groups_first_with_their_reasons(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url)
    rows = page.locator(".worst-row")
    expect(rows.filter(has_text="orders-stalled").locator("[data-status=STALL]")).to_be_visible()
    order = [rows.nth(i).locator("b").first.inner_text() for i in range(rows.count())]

    assert order[-1] == "orders-slow"
    assert order.index("orders-stalled") < order.index("orders-stopped") < order.index("orders-slow")
    expect(rows.filter(has_text="orders-stalled")).to_contain_text("commits are all of offset")
    expect(page.locator("[data-cluster=test] .count.err b")).to_have_text(re.compile("[23]"))
    expect(page.locator("[data-cluster=test]")).to_contain_text("up to date")
    expect(page.locator("[data-cluster=test] .queries")).to_contain_text("commits-test running")


def test_what_is_shown_changes_by_itself_and_scrolling_is_kept(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url, viewport={"width": 1360, "height": 400})
    lag = page.locator(".worst-row").filter(has_text="orders-stalled").locator(".how-much").first
    before = lag.inner_text()
    page.evaluate("scrollTo(0, 120)")
    scrolled = eventually(lambda: page.evaluate("scrollY"))
    expect(lag).not_to_have_text(before)

    assert page.evaluate("scrollY") == scrolled
    expect(page.locator(".fresh")).to_have_text(re.compile(r"updated \d s ago"))


def test_a_group_tells_why_since_when_and_what_both_rule_sets_say(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url + "ui/clusters/test/groups/orders-stalled")
    expect(page.locator(".sentence")).to_have_text(
        re.compile(r"is stalled · orders \d: the last 10 commits are all of offset \d+, lag [\d,]+ · since .* ago")
    )
    expect(page.locator(".rule-sets li")).to_have_count(2)
    expect(page.locator(".facts")).to_contain_text("Lag, time")
    expect(page.get_by_role("img", name="Lag over time")).to_be_visible()
    expect(page.get_by_role("img", name="Heat map")).to_be_visible()
    expect(page.locator(".panel", has_text="Members").locator("tbody")).to_contain_text("orders-stalled-1")
    expect(page.locator(".panel", has_text="Incidents").last).to_contain_text("for ")


def test_the_lag_of_hours_and_days_comes_from_the_history_and_stays_in_the_address(
    shop_url: str, open_page: Open
) -> None:
    page = open_page(f"{shop_url}ui/clusters/test/groups/orders-stalled")
    page.get_by_role("button", name="6 h").click()

    expect(page.get_by_role("button", name="6 h")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".chart canvas").first).to_be_visible(timeout=90_000)
    expect(page.locator(".chart .u-legend").first).to_contain_text("Lag, records")
    assert "range=6h" in page.url
    page.reload()
    expect(page.get_by_role("button", name="6 h")).to_have_attribute("aria-pressed", "true")


def test_the_offsets_of_hours_and_days_come_from_the_history_too(shop_url: str, open_page: Open) -> None:
    page = open_page(f"{shop_url}ui/clusters/test/groups/orders-stalled?topic=orders&partition=3&range=6h")
    chart = page.get_by_role("img", name="Committed and end offset, 6 h")

    expect(chart.locator(".u-legend")).to_contain_text("103", timeout=90_000)


def test_a_partition_that_is_chosen_shows_its_commits_and_stays_in_the_address(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url + "ui/clusters/test/groups/orders-stalled")
    page.get_by_role("grid", name="Partitions").get_by_text("orders 3", exact=True).click()
    commits = page.get_by_role("region", name="Commits of orders 3")
    expect(commits.locator("tbody tr")).to_have_count(10)
    expect(commits.locator("tbody tr").first).to_contain_text("103")
    assert "topic=orders&partition=3" in page.url
    page.reload()

    expect(page.get_by_role("region", name="Commits of orders 3")).to_be_visible()


def test_the_same_numbers_can_be_had_with_curl(shop_url: str, open_page: Open) -> None:
    page = open_page(
        shop_url + "ui/clusters/test/groups/orders-slow", permissions=["clipboard-read", "clipboard-write"]
    )
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()

    told = page.evaluate("navigator.clipboard.readText()")
    assert told == f"curl -s '{shop_url}api/v1/clusters/test/groups/orders-slow'"


def test_a_group_is_silenced_and_heard_again(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url + "ui/clusters/test/groups/orders-slow")
    page.get_by_role("button", name="Silence", exact=True).click()
    page.get_by_label("For").select_option("14400")
    page.get_by_label("Why").fill("new disks")
    page.get_by_role("button", name="Silence it").click()
    expect(page.get_by_role("dialog")).to_contain_text("It is quiet until")
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".badge")).to_contain_text("Silenced until")
    page.get_by_role("link", name="Notifiers").click()
    row = page.get_by_role("row").filter(has_text="new disks")
    expect(row).to_contain_text("^orders-slow$")
    row.get_by_role("button", name="End the silence").click()

    expect(page.get_by_text("Nothing is silenced.")).to_be_visible()


def test_a_topic_tells_how_fast_it_grows_and_who_reads_it(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url + "ui/clusters/test/topics")
    page.get_by_role("link", name="orders", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("orders")
    expect(page.locator(".facts")).to_contain_text("/s")
    expect(page.get_by_role("grid", name="Partitions").locator("[aria-rowindex='5']")).to_be_visible()
    page.get_by_role("link", name="orders-stopped").click()

    expect(page.locator(".sentence")).to_contain_text("has stopped committing")


def test_incidents_are_told_with_their_course(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url + "ui/incidents")
    page.get_by_role("button", name="Open", exact=True).click()
    item = page.locator(".timeline > li").filter(has_text="orders-stalled")
    item.locator("summary").click()

    expect(item.get_by_label("Course").locator("li").first).to_contain_text("opened")
    assert page.url.endswith("?state=open")


def test_notifiers_tell_what_waits_and_why(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url + "ui/notifiers")
    row = page.get_by_role("row").filter(has_text="chat")

    expect(row).to_contain_text("slack")
    expect(row.locator("td.why")).not_to_have_text("")


def test_a_notifier_is_tried_out_and_what_became_of_it_is_told(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url + "ui/notifiers")
    page.get_by_role("row").filter(has_text="chat").get_by_role("button", name="Send a test").click()

    expect(page.get_by_role("alert")).to_contain_text("The test message did not reach chat.")


def test_the_configuration_is_shown_without_secrets(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url + "ui/config")
    page.get_by_label("Search keys").fill("notifier.chat.url")
    expect(page.locator(".keys dd")).to_contain_text(["***"])
    expect(page.locator(".sections section")).to_have_count(1)

    assert SECRET not in page.content()


def test_about_tells_versions_queries_and_positions(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url + "ui/about")

    expect(page.locator(".facts").first).to_contain_text("PySpark")
    expect(page.get_by_role("row").filter(has_text="heads-test")).to_contain_text("running")
    expect(page.get_by_text("All records could be decoded.")).to_be_visible()


def test_about_tells_how_sinks_and_the_history_are_doing(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url + "ui/about")

    sink = page.get_by_role("row").filter(has_text="lake")
    expect(sink).to_contain_text("failing, will be tried again")
    expect(sink).to_contain_text("connection refused")
    history = page.locator("section.panel").filter(has=page.get_by_role("heading", name="History"))
    expect(history).to_contain_text("ago")


def test_theme_and_language_can_be_chosen_and_are_kept(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_label("Theme").select_option("dark")
    page.get_by_label("Language").select_option("ko")
    expect(page.get_by_role("link", name="개요")).to_be_visible()
    dark = page.evaluate(ground)
    page.reload()
    expect(page.get_by_role("link", name="개요")).to_be_visible()

    assert dark != light
    assert page.evaluate(ground) == dark
    assert page.evaluate("document.documentElement.lang") == "ko"


def test_a_korean_browser_gets_korean(shop_url: str, open_page: Open, axe: str) -> None:
    page = open_page(shop_url + "ui/clusters/test/groups/orders-stalled", locale="ko-KR")
    expect(page.locator(".sentence")).to_contain_text("같은 오프셋에 멈춰 있습니다")

    assert violations(page, axe) == []
