/** A status is a shape, a word and a colour: each alone is enough to tell. */

import type { JSX } from "preact";
import { useWords } from "../settings";
import type { AnyStatus } from "../types";

type Shown = AnyStatus | null;

const SHAPES: Record<AnyStatus | "none", JSX.Element> = {
  OK: <circle cx="8" cy="8" r="5" />,
  WARN: <path d="M8 1.800 15 14H1Z" />,
  ERR: <path d="M5 1.500h6L14.500 5v6L11 14.500H5L1.500 11V5Z" />,
  STOP: <rect x="2.500" y="2.500" width="11" height="11" rx="1" />,
  STALL: <path d="M3 2.500h3.600v11H3Zm6.400 0H13v11H9.400Z" />,
  REWIND: <path d="M8 2.500v11L1.200 8Zm6.800 0v11L8 8Z" />,
  NOTFOUND: (
    <path d="m3.500 2 4.500 4.500L12.500 2 14 3.500 9.500 8l4.500 4.500-1.500 1.500L8 9.500 3.500 14 2 12.500 6.500 8 2 3.500Z" />
  ),
  none: (
    <circle cx="8" cy="8" r="4.500" fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="2.500 2" />
  ),
};

export function toneOf(status: Shown): "ok" | "warn" | "err" | "none" {
  if (status === "OK") return "ok";
  if (status === "WARN") return "warn";
  return status === null || status === "NOTFOUND" ? "none" : "err";
}

export function Shape({ status }: { status: Shown }): JSX.Element {
  return (
    <svg class="shape" viewBox="0 0 16 16" width="12" height="12" fill="currentColor" aria-hidden="true">
      {SHAPES[status ?? "none"]}
    </svg>
  );
}

/** `before` a change a group that is not there is a new one, not one that is gone. */
export function Status({ status, large, before }: { status: Shown; large?: boolean; before?: boolean }): JSX.Element {
  const words = useWords();
  return (
    <span class={`status ${toneOf(status)}${large ? " large" : ""}`} data-status={status ?? "none"}>
      <Shape status={before && status === "NOTFOUND" ? null : status} />
      {words.status[before && status === "NOTFOUND" ? "new" : (status ?? "none")]}
    </span>
  );
}
