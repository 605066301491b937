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

  it("keeps the place that stands before it", () => {
    expect(koreanReason("orders.v2 3: caught up")).toBe("orders.v2 3: 모두 읽었습니다");
  });

  it("leaves as it is what it does not know", () => {
    expect(koreanReason("something new")).toBe("something new");
  });
});
