/** From windows and lists to what is drawn. Pure. */

import type {
  Cause,
  GroupStatus,
  GroupSummary,
  Partition,
  PartitionCommits,
  PartitionStatus,
  WindowEntry,
} from "./types";

const BADNESS: Record<PartitionStatus | GroupStatus, number> = { OK: 0, WARN: 1, STOP: 2, STALL: 3, ERR: 3, REWIND: 4 };

/** The worst first, then the highest lag, then by name: the order of the API, over several clusters. */
export function byBadness<T extends GroupSummary & { cluster: string }>(a: T, b: T): number {
  return (
    badness(b.cause) - badness(a.cause) ||
    (b.total_lag ?? 0) - (a.total_lag ?? 0) ||
    a.group.localeCompare(b.group) ||
    a.cluster.localeCompare(b.cluster)
  );
}

/** The same order for the groups of one topic. */
export function readersByBadness<T extends { status: PartitionStatus; total_lag: number; group: string }>(
  a: T,
  b: T,
): number {
  return BADNESS[b.status] - BADNESS[a.status] || b.total_lag - a.total_lag || a.group.localeCompare(b.group);
}

function badness(cause: Cause | null): number {
  return cause === null ? -1 : BADNESS[cause.status];
}

/** The kind of trouble says more than ERR. */
export function shownStatus(one: {
  status: GroupStatus | null;
  cause: Cause | null;
}): PartitionStatus | GroupStatus | null {
  return one.status === "ERR" && one.cause !== null ? one.cause.status : one.status;
}

/** The line of a sparkline in a box of this size, over time; gaps where nothing is known. */
export function sparkPath(
  values: readonly (number | null)[],
  timesMs: readonly number[],
  width: number,
  height: number,
): string {
  const known = values.filter((one): one is number => one !== null);
  if (known.length === 0) return "";
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const [fromMs, toMs] = [timesMs[0] ?? 0, timesMs.at(-1) ?? 0];
  const x = (i: number) => (toMs > fromMs ? (((timesMs[i] ?? toMs) - fromMs) / (toMs - fromMs)) * width : width);
  const level = high === 0 ? height - 1 : height / 2;
  const y = (value: number) => (high === low ? level : height - 1 - ((value - low) / (high - low)) * (height - 2));
  let path = "";
  let isPenDown = false;
  values.forEach((value, i) => {
    if (value !== null) path += `${isPenDown ? "L" : "M"}${round(x(i))} ${round(y(value))}`;
    isPenDown = value !== null;
  });
  return path;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export function commitMs(entry: WindowEntry): number {
  return Date.parse(entry.committed_at ?? entry.observed_at);
}

/** Whether the rest will never be read at these speeds; while one of them is not known, that is not known either. */
export function isEndless(
  one: Pick<Partition, "lag" | "consumed_per_second" | "produced_per_second" | "catch_up_seconds">,
): boolean {
  const areKnown = one.consumed_per_second !== null && one.produced_per_second !== null;
  return (one.lag ?? 0) > 0 && areKnown && one.catch_up_seconds === null;
}

/** The sum of what is known; null if nothing is. */
export function sumOfKnown(values: readonly (number | null)[]): number | null {
  return values.reduce((sum, one) => (one === null ? sum : (sum ?? 0) + one), null);
}

export interface Offsets {
  timesMs: number[];
  committed: (number | null)[];
  ends: (number | null)[];
}

/** Where a group stood and where the partition ended at each commit, and now; in order, also if clocks differ. */
export function offsetsOf(window: readonly WindowEntry[], end: number | null, nowMs: number): Offsets {
  const entries = [...window].sort((a, b) => commitMs(a) - commitMs(b));
  const timesMs = entries.map(commitMs);
  return {
    timesMs: [...timesMs, Math.max(nowMs, timesMs.at(-1) ?? nowMs)],
    committed: [...entries.map((one) => one.offset), window.at(-1)?.offset ?? null],
    ends: [...entries.map((one) => (one.lag === null ? null : one.offset + one.lag)), end],
  };
}

export interface HeatMap {
  fromMs: number;
  toMs: number;
  columns: number;
  mostLag: number;
  /** For each partition and column the lag of the last commit until then; null before the first one, or if unknown. */
  rows: (number | null)[][];
}

/** What each partition's lag was over the time that the windows cover; a commit counts until the next one. */
export function heatMap(windows: readonly PartitionCommits[], nowMs: number, columns: number): HeatMap {
  const starts = windows.flatMap((one) => (one.window[0] ? [commitMs(one.window[0])] : []));
  const fromMs = starts.length > 0 ? Math.max(Math.min(...starts), nowMs - 86_400_000) : nowMs - 60_000;
  const toMs = Math.max(nowMs, fromMs + 1);
  const stepMs = (toMs - fromMs) / columns;
  const rows = windows.map(({ window }) =>
    Array.from({ length: columns }, (_, i) => lagUntil(window, fromMs + (i + 1) * stepMs)),
  );
  const mostLag = Math.max(0, ...rows.flat().map((one) => one ?? 0));
  return { fromMs, toMs, columns, mostLag, rows };
}

function lagUntil(window: readonly WindowEntry[], untilMs: number): number | null {
  let found: number | null = null;
  for (const entry of window) {
    if (commitMs(entry) > untilMs) break;
    found = entry.lag;
  }
  return found;
}

/** 0 to 1; by orders of magnitude, so that a few large partitions do not hide all others. */
export function heat(lag: number, mostLag: number): number {
  return mostLag === 0 ? 0 : Math.log1p(lag) / Math.log1p(mostLag);
}

/** A name as a regular expression (RE2) that fits this name alone. */
export function exactly(name: string): string {
  return `^${name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`;
}

/** A text as one word of a shell. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
