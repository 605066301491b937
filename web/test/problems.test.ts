import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { koreanHint, koreanProblem } from "../src/i18n/problems";

const api = readFileSync(new URL("../../docs/api.md", import.meta.url), "utf-8");
const codes = [...api.slice(api.indexOf("## Errors")).matchAll(/^\| \d{3} \| (.+?) \|/gm)].flatMap(([, found]) =>
  [...(found ?? "").matchAll(/`(\w+)`/g)].map(([, code]) => code ?? ""),
);

describe("errors in Korean", () => {
  it("are those of the documentation", () => expect(codes).toContain("group_not_found"));

  it.each(codes)("have a sentence for %s", (code) => {
    const korean = koreanProblem(code, "Something `a` is wrong with `b`.");
    expect(korean).toMatch(/[가-힣]/);
    expect(korean).not.toMatch(/\$\d/);
  });

  it("keep the names, as they are", () =>
    expect(koreanProblem("group_not_found", "The cluster `a$2` has no group `$1`.")).toBe(
      "클러스터 a$2에 그룹 $1이(가) 없습니다.",
    ));

  it("of a code that is not known are told in English", () =>
    expect(koreanProblem("teapot", "No coffee.")).toBe("No coffee."));

  it("come with what to do", () => {
    expect(koreanHint("Did you mean `a` or `b`?")).toBe("혹시 `a`, `b`을(를) 찾으시나요?");
    expect(koreanHint("Something new.")).toBe("Something new.");
  });
});
