/** Asks API v1, with the token if there is one; every failure has a sentence. */

import { ROOT } from "./navigation";
import { createStore } from "./store";

export const BASE = new URL("api/v1/", ROOT);
const TOKEN = "warren.token";
const PATIENCE_MS = 15_000;

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

export async function ask<T>(
  path: string,
  options: { signal?: AbortSignal; method?: string; body?: unknown } = {},
): Promise<T> {
  const headers = new Headers({ Accept: "application/json" });
  if (token.get()) headers.set("Authorization", `Bearer ${token.get()}`);
  if (options.body !== undefined) headers.set("Content-Type", "application/json");
  const request: RequestInit = {
    method: options.method ?? "GET",
    headers,
    cache: "no-store",
    credentials: "same-origin",
  };
  if (options.body !== undefined) request.body = JSON.stringify(options.body);
  const patience = AbortSignal.timeout(PATIENCE_MS);
  request.signal = options.signal ? AbortSignal.any([options.signal, patience]) : patience;
  const before = request.method === "GET" ? newest.get(path) : undefined;
  if (before !== undefined) headers.set("If-None-Match", before.tag);
  const answer = await sent(new URL(path, BASE), request, options.signal);
  if (answer.status === 304 && before !== undefined) return before.data as T;
  if (!answer.ok) throw await refused(answer);
  const data = (await answer.json()) as T;
  if (request.method === "GET") remember(path, answer.headers.get("ETag"), data);
  return data;
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

async function sent(url: URL, request: RequestInit, signal: AbortSignal | undefined): Promise<Response> {
  try {
    return await fetch(url, request);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "away", error instanceof Error ? error.message : String(error), "");
  }
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
