/** Asks API v1, with the token if there is one; every failure has a sentence. */

import { ROOT } from "./navigation";
import { createStore } from "./store";

export const BASE = new URL("api/v1/", ROOT);
const TOKEN = "warren.token";
export const PATIENCE_MS = 15_000;

export class ApiError extends Error {
  constructor(
    /** Of the answer; 0 if none came. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

export const token = createStore(sessionStorage.getItem(TOKEN) ?? "");
token.subscribe(() => {
  if (token.get()) sessionStorage.setItem(TOKEN, token.get());
  else sessionStorage.removeItem(TOKEN);
});

/** What the last answers say about Warren itself. */
export interface Connection {
  answeredMs: number;
  failure: ApiError | null;
}
export const connection = createStore<Connection>({ answeredMs: 0, failure: null });

interface Options {
  signal?: AbortSignal;
  method?: "POST" | "DELETE";
  body?: unknown;
  patienceMs?: number;
}

/** Fails with an `ApiError`, whatever went wrong, unless the signal says that nobody waits any more. */
export async function ask<T>(path: string, options: Options = {}): Promise<T> {
  const isRead = options.method === undefined;
  const before = isRead ? newest.get(path) : undefined;
  try {
    const answer = await fetch(new URL(path, BASE), requestOf(options, before?.tag));
    if (answer.status === 304 && before !== undefined) return before.data as T;
    if (!answer.ok) throw await refused(answer);
    const data = (await answer.json()) as T;
    if (isRead) remember(path, answer.headers.get("ETag"), data);
    return data;
  } catch (error) {
    if (error instanceof ApiError || options.signal?.aborted) throw error;
    // No answer, half of one, or a page of what is in front of Warren.
    throw new ApiError(0, "away", error instanceof Error ? error.message : String(error), "");
  }
}

function requestOf({ signal, method, body, patienceMs = PATIENCE_MS }: Options, tag: string | undefined): RequestInit {
  const headers = new Headers({ Accept: "application/json" });
  if (token.get()) headers.set("Authorization", `Bearer ${token.get()}`);
  if (body !== undefined) headers.set("Content-Type", "application/json");
  if (tag !== undefined) headers.set("If-None-Match", tag);
  const patience = AbortSignal.timeout(patienceMs);
  return {
    method: method ?? "GET",
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    cache: "no-store",
    credentials: "same-origin",
    signal: signal ? AbortSignal.any([signal, patience]) : patience,
  };
}

/** The newest answers by path: what is as it was is not sent again, and is the same object. */
const newest = new Map<string, { tag: string; data: unknown }>();
const REMEMBERED = 50;

function remember(path: string, tag: string | null, data: unknown): void {
  newest.delete(path);
  if (tag !== null) newest.set(path, { tag, data });
  const oldest = newest.keys().next().value;
  if (newest.size > REMEMBERED && oldest !== undefined) newest.delete(oldest);
}

async function refused(answer: Response): Promise<ApiError> {
  try {
    const { error } = (await answer.json()) as { error: { code: string; message: string; hint: string } };
    return new ApiError(answer.status, error.code, error.message, error.hint);
  } catch {
    // What is in front of Warren has answered instead of it.
    return new ApiError(answer.status >= 500 ? 0 : answer.status, "away", `HTTP ${answer.status}`, "");
  }
}

/** Each part of a path as it must be written. */
export function apiPath(...parts: string[]): string {
  return parts.map(encodeURIComponent).join("/");
}
