/** A table that may have any number of rows: only those that can be seen are there. Arrows move, Enter opens. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { movedBy, placeOf, scrollTo, visibleRange, type Chosen, type Range } from "../virtual";

export interface Column {
  key: string;
  title: string;
  /** For a CSS grid. */
  width: string;
  /** On a phone, if it is another one. */
  narrow?: string;
  /** From which width of the page down it is left out. */
  hide?: "mid" | "narrow";
  end?: boolean;
  /** Which way it is sorted now, if it is. */
  sorted?: "ascending" | "descending" | undefined;
  onSort?: () => void;
}

interface RowsProps {
  label: string;
  columns: Column[];
  count: number;
  /** What tells the rows at hand from each other, whatever their order is, and where they begin. */
  keys: readonly string[];
  offset?: number;
  /** It is still that of other filters. */
  isOld?: boolean;
  rowHeight: number;
  /** The table is as high as its rows, up to this; CSS otherwise. */
  maxHeight?: number;
  cells: (index: number) => ComponentChildren[] | null;
  rowClass?: (index: number) => string;
  onOpen?: (index: number) => void;
  onRange?: (range: Range) => void;
  selected?: number | undefined;
  id: string;
}

export function Rows(props: RowsProps): JSX.Element {
  const { columns, count, keys, offset = 0, rowHeight, id } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: props.maxHeight ?? 600 });
  const [chosen, setChosen] = useState<Chosen>({ row: -1, key: undefined });
  const active = placeOf(chosen, keys, offset);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, []);

  const range = visibleRange(view.top, view.height, rowHeight, count);
  useEffect(() => props.onRange?.(range), [range.first, range.end]);
  useEffect(() => {
    const key = keys[chosen.row - offset];
    if (chosen.key === undefined && key !== undefined) setChosen({ row: chosen.row, key });
  });

  const moveTo = (row: number) => {
    setChosen({ row, key: keys[row - offset] });
    const element = scroller.current;
    if (element !== null)
      element.scrollTop = scrollTo(row, element.scrollTop, element.clientHeight - rowHeight, rowHeight);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.target !== scroller.current) return;
    const wanted = movedBy(event.key, active < 0 ? chosen.row : active, count, Math.floor(view.height / rowHeight));
    if (wanted !== null) {
      event.preventDefault();
      moveTo(wanted);
    } else if (event.key === "Enter" && active >= 0) {
      props.onOpen?.(active);
    } else if (event.key === "Escape" && chosen.row >= 0) {
      setChosen({ row: -1, key: undefined });
      event.stopPropagation();
    }
  };

  const templates = {
    "--wide": columns.map((one) => one.width).join(" "),
    "--mid": columns
      .filter((one) => one.hide !== "mid")
      .map((one) => one.width)
      .join(" "),
    "--narrow": columns
      .filter((one) => one.hide === undefined)
      .map((one) => one.narrow ?? one.width)
      .join(" "),
  };
  const isThere = active >= range.first && active < range.end;
  return (
    <div
      ref={scroller}
      class="rows"
      role="grid"
      aria-label={props.label}
      aria-rowcount={count + 1}
      aria-busy={props.isOld}
      aria-activedescendant={isThere ? `${id}-${active}` : undefined}
      tabIndex={0}
      onKeyDown={onKey}
      style={props.maxHeight === undefined ? templates : { ...templates, maxHeight: `${props.maxHeight}px` }}
    >
      <div role="rowgroup" class="head">
        <div role="row" class="row" aria-rowindex={1}>
          {columns.map((one) => (
            <Head key={one.key} column={one} />
          ))}
        </div>
      </div>
      <div role="rowgroup" class="body" style={{ height: `${count * rowHeight}px` }}>
        {Array.from({ length: range.end - range.first }, (_, i) => range.first + i).map((index) => {
          const cells = props.cells(index);
          const state = `${index === active ? " active" : ""}${index === props.selected ? " selected" : ""}`;
          return (
            <div
              key={index}
              id={`${id}-${index}`}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={props.onOpen ? index === (props.selected ?? active) : undefined}
              class={`row${props.onOpen ? " open" : ""}${state} ${props.rowClass?.(index) ?? ""}`}
              style={{ height: `${rowHeight}px`, transform: `translateY(${index * rowHeight}px)` }}
              onClick={(event) => isPlain(event) && props.onOpen?.(index)}
            >
              {columns.map((column, i) => (
                <div key={column.key} role="gridcell" class={cellClass(column)}>
                  {cells === null ? <span class="bone" /> : cells[i]}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function cellClass({ end, hide }: Column): string {
  return `cell${end ? " end" : ""}${hide === undefined ? "" : ` hide-${hide}`}`;
}

/** A click on a link inside is the link's. */
function isPlain(event: MouseEvent): boolean {
  return !(event.target instanceof Element && event.target.closest("a, button"));
}

function Head({ column }: { column: Column }): JSX.Element {
  return (
    <div
      role="columnheader"
      class={cellClass(column)}
      aria-sort={column.sorted ?? (column.onSort ? "none" : undefined)}
    >
      {column.onSort ? (
        <button type="button" class="sort" onClick={column.onSort}>
          {column.title}
          <span aria-hidden="true">
            {column.sorted === undefined ? "" : column.sorted === "ascending" ? " ↑" : " ↓"}
          </span>
        </button>
      ) : (
        column.title
      )}
    </div>
  );
}
