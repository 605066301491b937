import { describe, expect, it } from "vitest";
import {
  filterQuery,
  isSameList,
  offsetIn,
  parseFilter,
  parsePath,
  pathOf,
  sortedBy,
  toggled,
  withQuery,
  type View,
} from "../src/urls";

const STRANGE = "team a/ü %2F?&#";

describe("addresses", () => {
  const views: View[] = [
    { view: "overview" },
    { view: "groups", cluster: "prod" },
    { view: "group", cluster: STRANGE, group: STRANGE },
    { view: "topics", cluster: "prod" },
    { view: "topic", cluster: "prod", topic: STRANGE },
    { view: "incidents" },
    { view: "notifiers" },
    { view: "config" },
    { view: "about" },
  ];
  it.each(views)("of $view lead back to it", (view) => expect(parsePath(pathOf(view))).toEqual(view));

  it.each([
    "ui/xyz",
    "ui/clusters",
    "ui/clusters/a",
    "ui/clusters/a/brokers",
    "ui/clusters/a/groups/b/c",
    "x",
    "ui/about/us",
  ])("%s is nothing", (path) => expect(parsePath(path)).toEqual({ view: "nothing" }));

  it("with a broken escape are taken as they are", () =>
    expect(parsePath("ui/clusters/a/groups/100%")).toEqual({ view: "group", cluster: "a", group: "100%" }));

  it("keep their query", () => {
    expect(withQuery("ui/about", new URLSearchParams())).toBe("ui/about");
    expect(withQuery("", new URLSearchParams({ a: "1" }))).toBe("?a=1");
  });
});

describe("filters", () => {
  it("survive the address", () => {
    const filter = parseFilter(
      new URLSearchParams("status=ERR&status=WARN&type=share&name=a%26b&topic=t&owner=o&sort=name&reverse=true"),
    );
    expect(parseFilter(filterQuery(filter))).toEqual(filter);
  });
  it("that are as usual are not in the address", () =>
    expect(filterQuery(parseFilter(new URLSearchParams())).toString()).toBe(""));
  it("that API v1 would refuse are left out", () =>
    expect(filterQuery(parseFilter(new URLSearchParams("status=BAD&type=odd&sort=colour"))).toString()).toBe(""));
  it("are turned on and off", () => {
    expect(toggled([], "ERR")).toEqual(["ERR"]);
    expect(toggled(["ERR", "OK"], "ERR")).toEqual(["OK"]);
  });
});

describe("sorting", () => {
  const usual = parseFilter(new URLSearchParams());
  it("by another column begins with the highest", () =>
    expect(sortedBy({ ...usual, reverse: true }, "total_lag")).toMatchObject({ sort: "total_lag", reverse: false }));
  it("by the same column again turns round", () =>
    expect(sortedBy(usual, "severity")).toMatchObject({ sort: "severity", reverse: true }));
});

describe("parts of a list", () => {
  it("begin where their path says", () => {
    expect(offsetIn("groups?limit=50&offset=100")).toBe(100);
    expect(offsetIn("groups")).toBe(0);
  });
  it("are of the same list if only the part is another", () => {
    expect(isSameList("groups?name=a&limit=50&offset=0", "groups?name=a&limit=100&offset=50")).toBe(true);
    expect(isSameList("groups?name=a&offset=0", "groups?name=b&offset=0")).toBe(false);
    expect(isSameList("groups?offset=0", "topics?offset=0")).toBe(false);
  });
});
