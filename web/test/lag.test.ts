import { describe, expect, it } from "vitest";
import {
  byBadness,
  exactly,
  heat,
  heatMap,
  isEndless,
  offsetsOf,
  readersByBadness,
  shellWord,
  shownStatus,
  sparkPath,
  sumOfKnown,
} from "../src/lag";
import type { GroupSummary, PartitionCommits, PartitionStatus } from "../src/types";

function group(name: string, status: PartitionStatus, lag: number, cluster = "a"): GroupSummary & { cluster: string } {
  const cause = { topic: "orders", partition: 0, status, rule: "", reason: "" };
  return {
    group: name,
    cluster,
    cause,
    total_lag: lag,
    status: status === "OK" || status === "WARN" ? status : "ERR",
  } as GroupSummary & { cluster: string };
}

describe("groups of several clusters", () => {
  it("come with the worst first, then the highest lag, then by name", () => {
    const sorted = [
      group("d", "WARN", 9),
      group("c", "STOP", 1),
      group("b", "STOP", 5),
      group("a", "REWIND", 0),
      group("a2", "STOP", 1),
    ].sort(byBadness);
    expect(sorted.map((one) => one.group)).toEqual(["a", "b", "a2", "c", "d"]);
  });
  it("of one topic have the same order", () => {
    const readers = [
      { group: "b", status: "OK" as const, total_lag: 9 },
      { group: "a", status: "STALL" as const, total_lag: 1 },
    ];
    expect(readers.sort(readersByBadness)[0]?.group).toBe("a");
  });
  it("tell the kind of their trouble", () => {
    expect(shownStatus(group("a", "STALL", 1))).toBe("STALL");
    expect(shownStatus(group("a", "WARN", 1))).toBe("WARN");
    expect(shownStatus({ status: null, cause: null })).toBeNull();
  });
});

describe("a sparkline", () => {
  it("goes from the first moment to the last, by time and not by number", () =>
    expect(sparkPath([0, 5, 10], [0, 75, 100], 100, 12)).toBe("M0 11L75 6L100 1"));
  it("has a gap where nothing is known", () =>
    expect(sparkPath([0, null, 10], [0, 50, 100], 100, 12)).toBe("M0 11M100 1"));
  it("of nothing unread lies on the ground", () => expect(sparkPath([0, 0], [0, 1], 100, 12)).toBe("M0 11L100 11"));
  it("that stays lies in the middle", () => expect(sparkPath([7, 7], [0, 1], 100, 12)).toBe("M0 6L100 6"));
  it("of nothing is empty", () => expect(sparkPath([null], [0], 100, 12)).toBe(""));
});

const at = (second: number) => new Date(second * 1000).toISOString();

describe("catching up", () => {
  const one = { lag: 5, consumed_per_second: 1, produced_per_second: 2, catch_up_seconds: null };
  it("will never be if more is written than read", () => expect(isEndless(one)).toBe(true));
  it("is not known as long as a speed is not", () => {
    expect(isEndless({ ...one, consumed_per_second: null })).toBe(false);
    expect(isEndless({ ...one, produced_per_second: null })).toBe(false);
    expect(isEndless({ ...one, lag: null })).toBe(false);
  });
  it("is over if nothing is unread", () => expect(isEndless({ ...one, lag: 0 })).toBe(false));
  it("will be if it is told when", () => expect(isEndless({ ...one, catch_up_seconds: 60 })).toBe(false));
});

describe("a sum", () => {
  it("is of what is known", () => expect(sumOfKnown([1, null, 2])).toBe(3));
  it("of nothing that is known is no zero", () => expect(sumOfKnown([null])).toBeNull());
});

describe("offsets over time", () => {
  const commit = (second: number, offset: number, lag: number | null) => ({
    offset,
    committed_at: at(second),
    observed_at: at(second),
    lag,
  });
  it("go from the first commit to now", () =>
    expect(offsetsOf([commit(1, 10, 5), commit(2, 12, null)], 20, 3_000)).toEqual({
      timesMs: [1_000, 2_000, 3_000],
      committed: [10, 12, 12],
      ends: [15, null, 20],
    }));
  it("go forward also if the brokers' clock is ahead, or commits are out of order", () =>
    expect(offsetsOf([commit(5, 10, 0), commit(4, 12, 0)], 20, 3_000).timesMs).toEqual([4_000, 5_000, 5_000]));
  it("without a commit are the end alone", () =>
    expect(offsetsOf([], 20, 3_000)).toEqual({ timesMs: [3_000], committed: [null], ends: [20] }));
});

describe("a heat map", () => {
  const one = (...commits: [number, number | null][]): PartitionCommits => ({
    topic: "orders",
    partition: 0,
    status: "OK",
    window: commits.map(([second, lag]) => ({ offset: 0, committed_at: at(second), observed_at: at(second), lag })),
  });
  it("has the lag of the last commit until each moment", () => {
    const map = heatMap([one([0, 5], [50, 9]), one([60, 2])], 100_000, 4);
    expect(map.rows).toEqual([
      [5, 9, 9, 9],
      [null, null, 2, 2],
    ]);
    expect(map.mostLag).toBe(9);
  });
  it("of a group without commits is empty", () => expect(heatMap([one()], 100_000, 2).rows).toEqual([[null, null]]));
  it("is at its strongest for the highest lag", () => {
    expect(heat(1000, 1000)).toBe(1);
    expect(heat(0, 1000)).toBe(0);
    expect(heat(0, 0)).toBe(0);
  });
});

describe("names in other languages", () => {
  it("as a regular expression fit only themselves", () => {
    expect(new RegExp(exactly("a.b+(c)")).test("a.b+(c)")).toBe(true);
    expect(new RegExp(exactly("a.b")).test("axb")).toBe(false);
  });
  it("are one word of a shell", () => expect(shellWord("it's $x")).toBe(`'it'\\''s $x'`));
});
