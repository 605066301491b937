/** Which rows of a long list are to be there: all have the same height. Pure. */

export interface Range {
  first: number;
  /** The one after the last. */
  end: number;
}

export const OVERSCAN = 8;

export function visibleRange(scrollTop: number, height: number, rowHeight: number, count: number): Range {
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - OVERSCAN);
  const end = Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + OVERSCAN);
  return { first: Math.min(first, Math.max(0, end)), end: Math.max(0, end) };
}

/** The rows to ask for. */
export interface Page {
  offset: number;
  limit: number;
}

/** The page of rows to ask for, so that small steps of scrolling ask for the same one again. */
export function pageFor(range: Range, step = 50): Page {
  const offset = Math.floor(range.first / step) * step;
  const end = Math.max(Math.ceil(range.end / step) * step, offset + step);
  return { offset, limit: end - offset };
}

/** The page for a range; the very same object while it stays the same, so that nothing is drawn again for it. */
export function pageAfter(page: Page, range: Range): Page {
  const next = pageFor(range);
  return next.offset === page.offset && next.limit === page.limit ? page : next;
}

/** Remember what was made for each row, so that scrolling makes only the rows that come into view. */
export function remembered<T>(make: (row: number) => T): (row: number) => T {
  const made = new Map<number, T>();
  return (row) => {
    if (!made.has(row)) made.set(row, make(row));
    return made.get(row) as T;
  };
}

/** Where to scroll so that a row can be seen, as little as possible. */
export function scrollTo(row: number, scrollTop: number, height: number, rowHeight: number): number {
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  return Math.max(scrollTop, top + rowHeight - height);
}

/** Where a key leads from a row; null if it is not one of those that move. */
export function movedBy(key: string, row: number, count: number, rowsOnScreen: number): number | null {
  const page = Math.max(1, rowsOnScreen - 1);
  const moves: Record<string, number> = {
    ArrowDown: row + 1,
    ArrowUp: row - 1,
    PageDown: row + page,
    PageUp: row - page,
    Home: 0,
    End: count - 1,
  };
  const wanted = moves[key];
  return wanted === undefined || count === 0 ? null : Math.min(count - 1, Math.max(0, wanted));
}

/** The row that was moved to; without a key as long as what stands there is not known. */
export interface Chosen {
  row: number;
  key: string | undefined;
}

/** Where it is now, in a list that may have been sorted again; -1 if it is not among the `keys` from `offset` on. */
export function placeOf({ row, key }: Chosen, keys: readonly string[], offset: number): number {
  if (key === undefined) return row;
  const found = keys.indexOf(key);
  return found < 0 ? -1 : offset + found;
}
