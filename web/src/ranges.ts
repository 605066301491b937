/** How far back a chart reaches. */

export interface Range {
  /** As in the address. */
  name: string;
  seconds: number;
}

const HOUR = 3_600;

export const RANGES: [Range, ...Range[]] = [
  { name: "1h", seconds: HOUR },
  { name: "6h", seconds: 6 * HOUR },
  { name: "1d", seconds: 24 * HOUR },
  { name: "7d", seconds: 7 * 24 * HOUR },
  { name: "30d", seconds: 30 * 24 * HOUR },
];

/** The one of that name, or the shortest. */
export function rangeOf(name: string | null): Range {
  return RANGES.find((one) => one.name === name) ?? RANGES[0];
}

/** Longer than what is at hand without a history. */
export function isLong(range: Range): boolean {
  return range.seconds > RANGES[0].seconds;
}

const POINTS = 400;
const MINUTE_MS = 60_000;

/** Where the history of a group, or of a partition of it, is; the same for a minute, so that what has not changed is not sent again. */
export function historyPath(of: string, seconds: number, nowMs: number): string {
  const sinceMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS - seconds * 1_000;
  return `${of}/history?since=${new Date(sinceMs).toISOString()}&points=${POINTS}`;
}
