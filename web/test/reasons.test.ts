import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { koreanReason } from "../src/i18n/reasons";

const samples = JSON.parse(
  readFileSync(new URL("../../tests/data/reasons.json", import.meta.url), "utf-8"),
) as string[];

describe("reasons in Korean", () => {
  it.each(samples)("has one for: %s", (english) => {
    const korean = koreanReason(english);
    expect(korean).toMatch(/[가-힣]/);
    expect(korean).not.toMatch(/\$\d/);
    for (const number of english.match(/\d+(?:,\d+)*/g) ?? []) expect(korean).toContain(number);
  });

  it.each([
    "no partitions",
    "the only one",
    "leading",
    "waiting: another Warren leads",
    "waiting: no rights; it needs: Read",
  ])("has one for: %s", (english) => expect(koreanReason(english)).toMatch(/[가-힣]/));

  it("takes seconds that are negative since a clock is ahead", () => {
    expect(koreanReason("no commit for -3 s, window spans -0 s, lag 1,000")).toBe(
      "-3초 동안 커밋이 없습니다 (윈도 길이 -0초, 지연 1,000건)",
    );
  });

  it("keeps the place that stands before it", () => {
    expect(koreanReason("orders.v2 3: caught up")).toBe("orders.v2 3: 모두 읽었습니다");
  });

  it("leaves as it is what it does not know", () => {
    expect(koreanReason("something new")).toBe("something new");
  });
});
