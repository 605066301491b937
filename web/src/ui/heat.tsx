/** Partitions over time: the darker a cell, the more was unread at the last commit before it. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { clock, records } from "../format";
import { heat, heatMap, type HeatMap } from "../lag";
import { theme, useWords } from "../settings";
import { useStore } from "../store";
import type { PartitionCommits } from "../types";
import { colourOf } from "./chart";

const COLUMNS = 60;
const TALLEST_ROW = 18;
const HIGHEST = 360;
const LABELLED_ROW = 14;

interface HeatProps {
  windows: PartitionCommits[];
  nowMs: number;
  onChoose: (topic: string, partition: number) => void;
}

export function Heat({ windows, nowMs, onChoose }: HeatProps): JSX.Element {
  const words = useWords();
  const chosen = useStore(theme);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [told, setTold] = useState("");
  const map = heatMap(windows, nowMs, COLUMNS);
  const rowHeight = Math.max(3, Math.min(TALLEST_ROW, Math.floor(HIGHEST / Math.max(1, windows.length))));
  const height = rowHeight * windows.length;

  useEffect(() => {
    const element = canvas.current;
    if (element === null) return undefined;
    const draw = () => paint(element, map, rowHeight);
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    return () => observer.disconnect();
  }, [windows, nowMs, chosen]);

  const at = (event: MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top) / rowHeight);
    const column = Math.floor(((event.clientX - box.left) / box.width) * COLUMNS);
    const one = windows[row];
    return one === undefined ? null : { one, lag: map.rows[row]?.[column] ?? null, column };
  };
  const tell = (event: MouseEvent) => {
    const found = at(event);
    if (found === null) return setTold("");
    const atMs = map.fromMs + ((map.toMs - map.fromMs) * (found.column + 1)) / COLUMNS;
    const where = `${found.one.topic} ${found.one.partition}`;
    return setTold(`${where} · ${clock(atMs)} · ${records(found.lag, words.locale)}`);
  };
  const choose = (event: MouseEvent) => {
    const found = at(event);
    if (found !== null) onChoose(found.one.topic, found.one.partition);
  };

  return (
    <div class="heat">
      <div class="heat-map">
        {rowHeight >= LABELLED_ROW && (
          <ul class="heat-names" aria-hidden="true">
            {windows.map((one) => (
              <li
                key={`${one.topic} ${one.partition}`}
                style={{ height: `${rowHeight}px`, lineHeight: `${rowHeight}px` }}
              >
                {one.topic} {one.partition}
              </li>
            ))}
          </ul>
        )}
        <canvas
          ref={canvas}
          role="img"
          aria-label={words.groupView.heatLabel(windows.length)}
          style={{ height: `${height}px` }}
          onMouseMove={tell}
          onMouseLeave={() => setTold("")}
          onClick={choose}
        />
      </div>
      <div class="heat-foot muted">
        <span>{clock(map.fromMs)}</span>
        <span class="told">{told}</span>
        <span>{clock(map.toMs)}</span>
      </div>
    </div>
  );
}

function paint(canvas: HTMLCanvasElement, map: HeatMap, rowHeight: number): void {
  const scale = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  canvas.width = width * scale;
  canvas.height = rowHeight * map.rows.length * scale;
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.scale(scale, scale);
  const parent = canvas.parentElement ?? document.body;
  const [empty, full] = [colourOf(parent, "--heat-none"), colourOf(parent, "--heat")];
  const gap = rowHeight > 6 ? 1 : 0;
  const cell = width / map.columns;
  map.rows.forEach((row, y) => {
    row.forEach((lag, x) => {
      context.globalAlpha = lag === null ? 1 : 0.08 + 0.92 * heat(lag, map.mostLag);
      context.fillStyle = lag === null ? empty : full;
      context.fillRect(x * cell, y * rowHeight, Math.ceil(cell) - gap, rowHeight - gap);
    });
  });
}
