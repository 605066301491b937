import { describe, expect, it } from "vitest";
import { clock, compact, duration, moment, percent, rate, records, secondsSince, UNKNOWN } from "../src/format";
import { en } from "../src/i18n/en";
import { ko } from "../src/i18n/ko";

describe("durations", () => {
  it.each([
    [0, "0 s"],
    [0.04, "0.1 s"],
    [0.44, "0.4 s"],
    [0.97, "1 s"],
    [12.4, "12 s"],
    [59.6, "1 min"],
    [60, "1 min"],
    [252, "4 min 12 s"],
    [3599.7, "1 h"],
    [12_000, "3 h 20 min"],
    [86_399, "1 d"],
    [187_200, "2 d 4 h"],
    [-90, "-1 min 30 s"],
  ])("%d s is told as %s", (seconds, text) => expect(duration(seconds, en.units)).toBe(text));

  it("are told in Korean", () => expect(duration(252, ko.units)).toBe("4분 12초"));

  it("that are not known are no zero", () => {
    expect(duration(null, en.units)).toBe(UNKNOWN);
    expect(duration(Number.NaN, en.units)).toBe(UNKNOWN);
  });
});

describe("numbers", () => {
  it("have their digits in groups", () => expect(records(1_234_567, "en-GB")).toBe("1,234,567"));
  it("that are not known are no zero", () => expect(records(null, "en-GB")).toBe(UNKNOWN));
  it("are short on axes", () => expect(compact(12_345, "en")).toBe("12.3K"));
  it("of rates have a decimal only when small", () => {
    expect(rate(0.42, "en", en.units)).toBe("0.4/s");
    expect(rate(1234.5, "en", en.units)).toBe("1,235/s");
    expect(rate(0, "en", en.units)).toBe("0/s");
    expect(rate(null, "en", en.units)).toBe(UNKNOWN);
    expect(rate(12, "ko", ko.units)).toBe("12/초");
  });
  it("of shares are not rounded up to all", () => expect(percent(0.999)).toBe("99 %"));
});

describe("times", () => {
  const now = Date.parse("2026-03-01T12:00:00Z");
  it("that lie ahead are no age", () => expect(secondsSince("2026-03-01T12:00:05Z", now)).toBe(0));
  it("are seconds ago", () => expect(secondsSince("2026-03-01T11:59:00Z", now)).toBe(60));
  it("that are not known have no age", () => expect(secondsSince(null, now)).toBeNull());
  it("of another day come with the date", () => {
    expect(moment("2026-02-27T12:00:00Z", "en-GB", now)).toContain("27 Feb 2026");
    expect(moment("2026-03-01T11:59:00Z", "en-GB", now)).toBe(clock("2026-03-01T11:59:00Z"));
  });
});
