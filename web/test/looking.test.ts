import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { keepLooking } from "../src/looking";

class Tab extends EventTarget {
  hidden = false;
}
let tab: Tab;

beforeEach(() => {
  vi.useFakeTimers();
  tab = new Tab();
  vi.stubGlobal("document", tab);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function turn(hidden: boolean): void {
  tab.hidden = hidden;
  tab.dispatchEvent(new Event("visibilitychange"));
}

describe("looking", () => {
  it("goes on until it is stopped", async () => {
    const look = vi.fn(async () => {});
    const stop = keepLooking(look, 1_000);
    await vi.advanceTimersByTimeAsync(2_500);
    expect(look).toHaveBeenCalledTimes(3);
    stop();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(look).toHaveBeenCalledTimes(3);
  });

  it("goes on after a look that failed", async () => {
    const failed = vi.fn();
    process.once("unhandledRejection", failed);
    const look = vi.fn(async () => {});
    look.mockRejectedValueOnce(new Error("a mistake"));
    keepLooking(look, 1_000);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(look).toHaveBeenCalledTimes(2);
    expect(failed).toHaveBeenCalledOnce();
  });

  it("waits while the page is hidden, and is back at once", async () => {
    const look = vi.fn(async () => {});
    keepLooking(look, 1_000);
    turn(true);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(look).toHaveBeenCalledTimes(1);
    turn(false);
    expect(look).toHaveBeenCalledTimes(2);
  });

  it("stays one, however often the page is hidden and shown meanwhile", async () => {
    const look = vi.fn(() => new Promise((resolve) => setTimeout(resolve, 100)));
    keepLooking(look, 1_000);
    for (let i = 0; i < 5; i++) {
      turn(true);
      turn(false);
    }
    await vi.advanceTimersByTimeAsync(100);
    look.mockClear();
    await vi.advanceTimersByTimeAsync(3_300);
    expect(look).toHaveBeenCalledTimes(3);
  });
});
