"""The list of groups: filters, order, keys, and 5,000 of them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.browser import PATIENCE_MS, Open, page_work_ms

expect.set_options(timeout=PATIENCE_MS)
pytestmark = pytest.mark.timeout(400)  # the first test waits until Spark is up and every group shows its state

LIST = "ui/clusters/test/groups"
MANY = "ui/clusters/big/groups"


def names(page: Page) -> Locator:
    return page.get_by_role("grid", name="Groups").locator("[role=gridcell] .name")


def test_groups_are_filtered_by_status_and_the_address_keeps_it(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url + LIST)
    page.get_by_role("button", name="WARN").click()
    expect(names(page)).to_have_text(["orders-slow"])
    assert page.url.endswith("?status=WARN")
    page.reload()

    expect(names(page)).to_have_text(["orders-slow"])
    expect(page.get_by_role("button", name="WARN")).to_have_attribute("aria-pressed", "true")


def test_groups_are_found_by_text_with_a_key_and_all_are_back_with_another(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url + LIST)
    expect(names(page).filter(has_text="orders-idle")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("STALL")
    expect(names(page)).to_have_text(["orders-stalled"])
    page.keyboard.press("Escape")

    expect(names(page).filter(has_text="orders-idle")).to_be_visible()


def test_groups_are_filtered_by_topic_owner_and_type(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url + LIST)
    page.get_by_label("Topic").fill("invoices")
    expect(names(page)).to_have_text(["orders-idle"])
    page.get_by_label("Topic").fill("")
    page.get_by_label("Owner").fill("orders-slow-1")
    expect(names(page)).to_have_text(["orders-slow"])
    page.get_by_label("Owner").fill("")
    page.get_by_label("Type").select_option("consumer")

    expect(names(page).filter(has_text="orders-healthy")).to_be_visible()
    expect(names(page)).to_have_count(2)


def test_nothing_that_fits_says_so_and_leads_back(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url + LIST + "?name=nobody-is-called-so")
    expect(page.get_by_text("No group fits these filters")).to_be_visible()
    page.get_by_role("button", name="Clear the filters").click()

    expect(names(page).filter(has_text="orders-idle")).to_be_visible()


def test_groups_are_sorted_by_a_column_and_the_other_way_round(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url + LIST + "?name=orders")
    by_name = page.get_by_role("columnheader", name="Group")
    by_name.get_by_role("button").click()
    expect(by_name).to_have_attribute("aria-sort", "ascending")
    expect(names(page).first).to_have_text("orders-healthy")
    by_name.get_by_role("button").click()

    expect(by_name).to_have_attribute("aria-sort", "descending")
    expect(names(page).first).to_have_text("orders-stopped")


def test_a_group_is_opened_with_the_keyboard_alone(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url + LIST + "?name=orders&sort=name")
    expect(names(page).first).to_have_text("orders-healthy")
    page.get_by_role("grid", name="Groups").focus()
    for key in ("ArrowDown", "End", "ArrowUp", "Enter"):
        page.keyboard.press(key)

    expect(page.get_by_role("heading", level=1)).to_have_text("orders-stalled")
    page.go_back()
    expect(names(page).first).to_have_text("orders-healthy")


def test_enter_opens_the_group_that_is_marked_also_when_the_list_was_sorted_again(
    many_url: str, open_page: Open
) -> None:
    page = open_page(many_url + MANY + "?sort=name")
    expect(names(page).first).to_have_text("service-00000")
    page.get_by_role("grid", name="Groups").focus()
    page.keyboard.press("ArrowDown")
    page.route("**/groups?*", turned_round)
    expect(names(page).first).not_to_have_text("service-00000")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("service-00000")


def turned_round(route: Route) -> None:
    headers = {name: value for name, value in route.request.headers.items() if name != "if-none-match"}
    answer = route.fetch(headers=headers)
    list_of_groups = answer.json()
    list_of_groups["groups"].reverse()
    route.fulfill(response=answer, json=list_of_groups)


def test_each_group_has_its_lag_drawn(shop_url: str, open_page: Open) -> None:
    page = open_page(shop_url + LIST + "?name=orders-stalled")

    expect(page.locator(".rows .spark path")).to_have_attribute("d", re.compile("M.*L"))


def test_of_five_thousand_groups_only_those_that_can_be_seen_are_there(many_url: str, open_page: Open) -> None:
    page = open_page(many_url + MANY + "?sort=name")
    expect(page.get_by_role("status").filter(has_text="5,000 groups")).to_be_visible()
    expect(names(page).first).to_have_text("service-00000")
    page.get_by_role("grid", name="Groups").focus()
    page.keyboard.press("End")
    expect(names(page).last).to_have_text("service-04999")

    assert page.locator("[role=row]").count() < 60


def test_scrolling_through_five_thousand_groups_stays_fluid(many_url: str, open_page: Open) -> None:
    """At 60 frames a second there are 16 ms for each, here while six rows come into view with every frame."""
    page, frames = open_page(many_url + MANY), 60
    expect(names(page).first).to_be_visible()
    used_ms = page_work_ms(page)
    before_ms = used_ms()
    page.evaluate(
        """async frames => {
            const list = document.querySelector(".rows");
            for (let i = 0; i < frames; i++) {
                list.scrollTop += 200;
                await new Promise(requestAnimationFrame);
            }
        }""",
        frames,
    )

    assert (used_ms() - before_ms) / frames < 16


def test_of_five_thousand_groups_only_a_small_part_is_sent(many_url: str, open_page: Open) -> None:
    page = open_page(many_url + MANY)
    expect(names(page).first).to_be_visible()
    entries = "performance.getEntriesByType('resource')"
    sent = f"{entries}.filter(one => one.name.includes('/groups?')).map(one => one.transferSize)"

    assert max(page.evaluate(sent)) < 100_000
