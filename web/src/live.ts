/** Keeps what is shown up to date: asks again every few seconds while the page can be seen. */

import { useEffect, useState } from "preact/hooks";
import { ApiError, ask, connection, PATIENCE_MS, token } from "./api";
import { keepLooking } from "./looking";
import { historyPath } from "./ranges";
import { createStore, useStore } from "./store";

export const EVERY_MS = 3_000;

export interface Answer<T> {
  data: T | null;
  /** The path that `data` is the answer to. */
  path: string;
  error: ApiError | null;
}

/** `data` is of the path before as long as the new one has not answered, and then old. */
export interface Live<T> extends Answer<T> {
  isOld: boolean;
  again: () => void;
}

/** How often something is asked for, how long its answer may take, and whether it tells how Warren is. */
interface Manner {
  everyMs: number;
  patienceMs: number;
  isSign: boolean;
}

const USUAL: Manner = { everyMs: EVERY_MS, patienceMs: PATIENCE_MS, isSign: true };
/** The history may be long, and far away: that it cannot be read says nothing of all else. */
const OF_THE_PAST: Manner = { everyMs: 60_000, patienceMs: 60_000, isSign: false };

const NOTHING: Answer<never> = { data: null, path: "", error: null };

export function useLive<T>(path: string, everyMs = EVERY_MS): Live<T> {
  return useOne<T>(path, () => path, { ...USUAL, everyMs });
}

/** How something went until now. What is asked for changes with time, and is the same thing all the same. */
export function useHistory<T>(of: string, seconds: number): Live<T> {
  return useOne<T>(`${of} ${seconds}`, () => historyPath(of, seconds, Date.now()), OF_THE_PAST);
}

/** The same of several things, each with its name: each comes, fails and stays by itself. */
export function useLiveAll<T>(names: string[], pathOf: (name: string) => string): (Answer<T> & { name: string })[] {
  const [answers, setAnswers] = useState<Record<string, Answer<T>>>({});
  const tell = (name: string, found: T | ApiError) =>
    setAnswers((before) => ({ ...before, [name]: after(before[name] ?? NOTHING, name, found) }));
  useLooking<T>(names, pathOf, tell, USUAL);
  return names.map((name) => ({ name, ...(answers[name] ?? NOTHING) }));
}

function useOne<T>(name: string, pathOf: () => string, manner: Manner): Live<T> {
  const [answer, setAnswer] = useState<Answer<T>>(NOTHING);
  const tell = (_: string, found: T | ApiError) => setAnswer((before) => after(before, name, found));
  const again = useLooking<T>([name], pathOf, tell, manner);
  return { ...answer, isOld: answer.path !== name, again };
}

/** Asks for what the names stand for, and tells what comes; what it gives back asks again at once. */
function useLooking<T>(
  names: string[],
  pathOf: (name: string) => string,
  tell: (name: string, found: T | ApiError) => void,
  manner: Manner,
): () => void {
  const [round, setRound] = useState(0);
  const sentToken = useStore(token);
  useEffect(() => {
    const look = async (name: string, stopped: AbortSignal) => {
      const found = await asked<T>(pathOf(name), stopped, manner);
      if (found !== null) tell(name, found);
    };
    const looks = names.map((name) => keepLooking((stopped) => look(name, stopped), manner.everyMs));
    return () => looks.forEach((stop) => stop());
  }, [names.join("\n"), manner.everyMs, round, sentToken]);
  return () => setRound((one) => one + 1);
}

/** What is known after an answer. */
function after<T>(before: Answer<T>, path: string, found: T | ApiError): Answer<T> {
  if (!(found instanceof ApiError)) return { data: found, path, error: null };
  return { ...before, data: isPassing(found) ? before.data : null, error: found };
}

/** Whether a failure says nothing about what is shown, so that it can stay. */
function isPassing(error: ApiError): boolean {
  return error.status === 0 || error.status >= 500;
}

/** The answer, or why there is none; null if nobody waits for it any more. */
async function asked<T>(path: string, stopped: AbortSignal, manner: Manner): Promise<T | ApiError | null> {
  try {
    const found = await ask<T>(path, { signal: stopped, patienceMs: manner.patienceMs });
    if (manner.isSign) connection.set({ answeredMs: Date.now(), failure: null });
    return stopped.aborted ? null : found;
  } catch (error) {
    if (stopped.aborted) return null;
    if (!(error instanceof ApiError)) throw error;
    if (manner.isSign) tellFailure(error);
    return error;
  }
}

function tellFailure(error: ApiError): void {
  const isTold = isPassing(error) || error.status === 401;
  connection.set({ answeredMs: isTold ? connection.get().answeredMs : Date.now(), failure: isTold ? error : null });
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
