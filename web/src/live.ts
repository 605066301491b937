/** Keeps what is shown up to date: asks again every few seconds while the page can be seen. */

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, ask, connection, token } from "./api";
import { createStore, useStore } from "./store";

export const EVERY_MS = 3_000;

export interface Live<T> {
  /** The newest answer; of the path before as long as the new one has not answered, then `isOld`. */
  data: T | null;
  /** The path that `data` is the answer to. */
  path: string;
  error: ApiError | null;
  isOld: boolean;
  again: () => void;
}

interface Answer<T> {
  data: T | null;
  path: string;
  error: ApiError | null;
}

export function useLive<T>(path: string | null, everyMs = EVERY_MS): Live<T> {
  const found = useLiveAll<T>(path === null ? [] : [path], everyMs);
  return { ...found, data: found.data?.[0] ?? null };
}

export function useLiveAll<T>(paths: string[], everyMs = EVERY_MS): Live<T[]> {
  const key = paths.join("\n");
  const [answer, setAnswer] = useState<Answer<T[]>>({ data: null, path: "", error: null });
  const [round, setRound] = useState(0);
  const sentToken = useStore(token);
  const latest = useRef(paths);
  latest.current = paths;

  useEffect(() => {
    const stopped = new AbortController();
    let timer: number | undefined;
    const look = async () => {
      clearTimeout(timer);
      if (document.hidden || latest.current.length === 0) return;
      const found = await asked<T>(latest.current, stopped.signal);
      if (stopped.signal.aborted || found === null) return;
      setAnswer((before) =>
        found instanceof ApiError
          ? { data: isPassing(found) ? before.data : null, path: before.path, error: found }
          : { data: found, path: key, error: null },
      );
      timer = window.setTimeout(look, everyMs);
    };
    const seen = () => void look();
    document.addEventListener("visibilitychange", seen);
    void look();
    return () => {
      stopped.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
    };
  }, [key, everyMs, round, sentToken]);

  return { ...answer, isOld: answer.path !== key, again: () => setRound((one) => one + 1) };
}

/** Whether a failure says nothing about what is shown, so that it can stay. */
function isPassing(error: ApiError): boolean {
  return error.status === 0 || error.status >= 500;
}

/** The answers to all; null if nobody waits for them any more. */
async function asked<T>(paths: string[], signal: AbortSignal): Promise<T[] | ApiError | null> {
  try {
    const found = await Promise.all(paths.map((path) => ask<T>(path, { signal })));
    connection.set({ answeredMs: Date.now(), failure: null });
    return found;
  } catch (error) {
    if (signal.aborted) return null;
    if (!(error instanceof ApiError)) throw error;
    const isTold = isPassing(error) || error.status === 401;
    connection.set({ answeredMs: isTold ? connection.get().answeredMs : Date.now(), failure: isTold ? error : null });
    return error;
  }
}

const now = createStore(Date.now());
setInterval(() => {
  if (!document.hidden) now.set(Date.now());
}, 1_000);
document.addEventListener("visibilitychange", () => now.set(Date.now()));

/** The time, once in a second. */
export function useNow(): number {
  return useStore(now);
}
