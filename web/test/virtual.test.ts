import { describe, expect, it } from "vitest";
import { movedBy, OVERSCAN, pageAfter, pageFor, placeOf, remembered, scrollTo, visibleRange } from "../src/virtual";

describe("rows that can be seen", () => {
  it("begin with the first", () => expect(visibleRange(0, 500, 50, 5_000)).toEqual({ first: 0, end: 10 + OVERSCAN }));
  it("are some more than fit, to either side", () =>
    expect(visibleRange(50_000, 500, 50, 5_000)).toEqual({ first: 1_000 - OVERSCAN, end: 1_010 + OVERSCAN }));
  it("end with the last", () => expect(visibleRange(249_500, 500, 50, 5_000).end).toBe(5_000));
  it("are none of an empty list", () => expect(visibleRange(0, 500, 50, 0)).toEqual({ first: 0, end: 0 }));
  it("stay within a list that became shorter", () => {
    const { first, end } = visibleRange(100_000, 500, 50, 20);
    expect(first).toBeLessThanOrEqual(end);
    expect(end).toBe(20);
  });
});

describe("the page that is asked for", () => {
  it("is the same while scrolling a little", () =>
    expect(pageFor({ first: 3, end: 30 })).toEqual(pageFor({ first: 20, end: 47 })));
  it("covers all rows that can be seen", () =>
    expect(pageFor({ first: 990, end: 1_020 })).toEqual({ offset: 950, limit: 100 }));
  it("is never empty", () => expect(pageFor({ first: 0, end: 0 })).toEqual({ offset: 0, limit: 50 }));
});

describe("the page after scrolling", () => {
  const page = pageFor({ first: 3, end: 30 });
  it("is the same object while it stays the same", () => expect(pageAfter(page, { first: 20, end: 47 })).toBe(page));
  it("is another one further down", () =>
    expect(pageAfter(page, { first: 60, end: 90 })).toEqual({ offset: 50, limit: 50 }));
});

describe("what is remembered of rows", () => {
  it("is made once for each", () => {
    const made: number[] = [];
    const row = remembered((index) => made.push(index));
    for (const index of [1, 2, 1, 2]) row(index);
    expect(made).toEqual([1, 2]);
  });
});

describe("keys", () => {
  it.each([
    ["ArrowDown", 5, 6],
    ["ArrowUp", 5, 4],
    ["ArrowUp", 0, 0],
    ["ArrowDown", 99, 99],
    ["ArrowDown", -1, 0],
    ["PageDown", 5, 14],
    ["PageUp", 5, 0],
    ["Home", 50, 0],
    ["End", 50, 99],
  ])("%s leads from %d to %d", (key, from, to) => expect(movedBy(key, from, 100, 10)).toBe(to));
  it("that do not move lead nowhere", () => expect(movedBy("a", 5, 100, 10)).toBeNull());
  it("lead nowhere in an empty list", () => expect(movedBy("ArrowDown", -1, 0, 10)).toBeNull());
});

describe("the row that was moved to", () => {
  it("is followed when the list is sorted again", () =>
    expect(placeOf({ row: 50, key: "b" }, ["c", "a", "b"], 50)).toBe(52));
  it("is nowhere once it has left the list, whatever stands in its place", () =>
    expect(placeOf({ row: 51, key: "b" }, ["a", "c"], 50)).toBe(-1));
  it("is its place as long as it is not known what stands there", () =>
    expect(placeOf({ row: 99, key: undefined }, ["a"], 0)).toBe(99));
});

describe("scrolling to a row", () => {
  it("does nothing if it can be seen", () => expect(scrollTo(5, 100, 500, 50)).toBe(100));
  it("goes up as far as needed", () => expect(scrollTo(1, 100, 500, 50)).toBe(50));
  it("goes down as far as needed", () => expect(scrollTo(20, 100, 500, 50)).toBe(550));
});
