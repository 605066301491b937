/** A chart over time, drawn by uPlot in the colours of the theme. */

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { axisTime, compact, duration, moment, records } from "../format";
import { theme, useWords } from "../settings";
import { useStore } from "../store";

export interface Line {
  label: string;
  /** A colour of the theme. */
  colour: "--line-1" | "--line-2";
  unit: "records" | "seconds";
  values: (number | null)[];
  dashed?: boolean;
}

const HEIGHT = 220;
/** Where an axis of durations may be divided. */
const STEPS_S = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800,
  604800,
];

export function Chart({ label, timesMs, lines }: { label: string; timesMs: number[]; lines: Line[] }): JSX.Element {
  const words = useWords();
  const chosen = useStore(theme);
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const data = [timesMs.map((one) => one / 1000), ...lines.map((one) => one.values)] as uPlot.AlignedData;
  const newest = useRef(data);
  newest.current = data;
  const shape = lines.map((one) => `${one.label}${one.unit}${one.colour}`).join();

  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(options(element, lines, words), newest.current, element);
    };
    draw();
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    return () => {
      observer.disconnect();
      dark.removeEventListener("change", draw);
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shape, words, chosen]);
  useEffect(() => plot.current?.setData(newest.current), [timesMs, lines]);

  return <div class="chart" ref={place} role="img" aria-label={label} />;
}

function options(element: HTMLElement, lines: Line[], words: ReturnType<typeof useWords>): uPlot.Options {
  const ink = colourOf(element, "--muted");
  const grid = { stroke: colourOf(element, "--line"), width: 1 };
  const write = (unit: Line["unit"], value: number | null) =>
    unit === "records" ? records(value, words.locale) : duration(value, words.units);
  const axis = (unit: Line["unit"], side: 1 | 3): uPlot.Axis => ({
    scale: unit,
    side,
    stroke: ink,
    grid: side === 3 ? grid : { show: false },
    ticks: { show: false },
    size: side === 3 ? 56 : 84,
    ...(unit === "seconds" ? { incrs: STEPS_S } : {}),
    values: (_, splits) =>
      splits.map((one) => (unit === "records" ? compact(one, words.locale) : duration(one, words.units))),
  });
  const units = [...new Set(lines.map((one) => one.unit))];
  return {
    width: element.clientWidth || 600,
    height: HEIGHT,
    cursor: { drag: { x: false, y: false }, points: { size: 7 } },
    scales: Object.fromEntries(
      units.map((unit) => [unit, { range: (_: uPlot, low: number, high: number) => limits(low, high) }]),
    ),
    axes: [
      {
        stroke: ink,
        grid: { show: false },
        ticks: { show: false },
        values: (plot, splits) => splits.map((one) => axisTime(one * 1000, spanMs(plot), words.locale)),
        space: 80,
        size: 32,
      },
      ...units.map((unit, i) => axis(unit, i === 0 ? 3 : 1)),
    ],
    series: [
      { label: "", value: (_, at: number | null) => (at === null ? "" : moment(new Date(at * 1000).toISOString(), words.locale, Date.now())) },
      ...lines.map((one): uPlot.Series => ({
        label: one.label,
        scale: one.unit,
        stroke: colourOf(element, one.colour),
        width: 2,
        ...(one.dashed ? { dash: [6, 4] } : {}),
        points: { show: one.values.length < 30, size: 5 },
        spanGaps: one.unit === "seconds",
        // Of the newest point, as long as no other one is pointed at.
        value: (plot, value: number | null, line, at) =>
          write(one.unit, at == null ? (plot.data[line]?.at(-1) ?? null) : value),
      })),
    ],
  };
}

function spanMs(plot: uPlot): number {
  const times = plot.data[0];
  return ((times.at(-1) ?? 0) - (times[0] ?? 0)) * 1000;
}

/** Lag begins at 0; offsets, which are large and near each other, where they begin. */
function limits(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1];
  const isFarFromZero = low > 0 && high - low < low * 0.5;
  const bottom = isFarFromZero ? low - (high - low) * 0.1 : 0;
  return [bottom, Math.max(high + (high - bottom) * 0.08, bottom + 1)];
}

/** What a colour of the theme comes to: canvas does not know variables. */
export function colourOf(element: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
