import { describe, expect, it } from "vitest";
import { en } from "../src/i18n/en";

const sources = import.meta.glob<string>(["../src/**/*.{ts,tsx}", "!../src/i18n/**"], {
  query: "?raw",
  import: "default",
  eager: true,
});
const code = Object.values(sources).join("\n");

type Texts = { [key: string]: unknown };

/** Every text with what it is reached by: "groupView.columns.lag". */
function paths(texts: Texts, before: string[] = []): string[][] {
  return Object.entries(texts).flatMap(([key, value]) =>
    typeof value === "object" ? paths(value as Texts, [...before, key]) : [[...before, key]],
  );
}

/** By its name; or by its owner, which is indexed with names that stand in quotes, or given on whole. */
function isUsed(path: string[]): boolean {
  const [owner = "words", key = ""] = ["words", ...path].slice(-2);
  const has = (pattern: string) => new RegExp(pattern).test(code);
  return (
    has(`\\b${owner === "columns" ? "(columns|titles)" : owner}\\.${key}\\b`) ||
    (has(`\\b${owner}\\[`) && has(`"${key}"`)) ||
    (path.length > 1 && has(`words\\.([\\w.]+\\.)?${owner}\\)`))
  );
}

describe("texts", () => {
  it("are all shown somewhere", () => expect(paths(en).filter((one) => !isUsed(one)).map(String)).toEqual([]));
  it("tell one group from several", () => {
    expect(en.groups.matching(1, 1)).toBe("1 group");
    expect(en.groups.matching(2, 5_000)).toBe("2 of 5,000 groups");
  });
});
