import { describe, expect, it } from "vitest";
import { axisTime } from "../src/format";
import { historyPath, rangeOf } from "../src/ranges";

describe("how far back a chart reaches", () => {
  it("is as the address says, and an hour if it says nothing that is known", () => {
    expect(rangeOf("7d").seconds).toBe(604_800);
    expect(rangeOf("3 weeks").name).toBe("1h");
    expect(rangeOf(null).name).toBe("1h");
  });

  it("is asked for by the minute, so that looking again and again asks for the same", () => {
    const first = historyPath("g", 3_600, Date.parse("2026-03-01T12:00:05Z"));
    expect(first).toBe("g/history?since=2026-03-01T11:00:00.000Z&points=400");
    expect(historyPath("g", 3_600, Date.parse("2026-03-01T12:00:59Z"))).toBe(first);
  });

  it("has dates on its axis only over more than a day", () => {
    const at = new Date(2026, 2, 1, 14, 30).getTime();
    expect(axisTime(at, 600_000, "en")).toBe("14:30:00");
    expect(axisTime(at, 21_600_000, "en")).toBe("14:30");
    expect(axisTime(at, 604_800_000, "en")).toBe("Mar 1 14:30");
    expect(axisTime(new Date(2026, 2, 2).getTime(), 604_800_000, "en")).toBe("Mar 2");
  });
});
