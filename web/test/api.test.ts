import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
vi.stubGlobal("location", { pathname: "/", search: "" });
vi.stubGlobal("addEventListener", () => {});
const { ApiError, ask } = await import("../src/api");

const fetched = vi.fn<typeof fetch>();
beforeEach(() => vi.stubGlobal("fetch", fetched));
afterEach(() => void fetched.mockReset());

function broken(problem: Error): Response {
  return new Response(new ReadableStream({ start: (body) => body.error(problem) }));
}

describe("an answer", () => {
  it.each([
    ["that does not come", () => Promise.reject(new TypeError("refused"))],
    ["that breaks off", async () => broken(new TypeError("reset"))],
    ["that takes too long", async () => broken(new DOMException("too long", "TimeoutError"))],
    ["of what is in front of Warren", async () => new Response("<html>")],
    ["of a proxy without Warren behind it", async () => new Response("<html>", { status: 502 })],
  ])("%s means that Warren is away", async (_, answer) => {
    fetched.mockImplementation(answer);
    await expect(ask("clusters")).rejects.toMatchObject({ status: 0, code: "away" });
  });

  it("that nobody waits for any more says nothing of Warren", async () => {
    fetched.mockImplementation(async () => broken(new DOMException("stopped", "AbortError")));
    const asked = ask("clusters", { signal: AbortSignal.abort() });
    await expect(asked).rejects.not.toBeInstanceOf(ApiError);
  });

  it("that is a refusal has its code", async () => {
    const error = { code: "group_not_found", message: "No.", hint: "Maybe." };
    fetched.mockImplementation(async () => Response.json({ error }, { status: 404 }));
    await expect(ask("groups/a")).rejects.toMatchObject({ status: 404, ...error });
  });

  it("that is as it was is not sent again, and is the same", async () => {
    fetched.mockImplementationOnce(async () => Response.json({ a: 1 }, { headers: { ETag: "x" } }));
    fetched.mockImplementationOnce(async () => new Response(null, { status: 304 }));
    const first = await ask("about");
    expect(await ask("about")).toBe(first);
    expect(new Headers(fetched.mock.lastCall?.[1]?.headers).get("If-None-Match")).toBe("x");
  });
});
