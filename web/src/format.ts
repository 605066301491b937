/** Numbers, durations and times as people read them. Pure. */

export interface Units {
  second: string;
  minute: string;
  hour: string;
  day: string;
  perSecond: string;
}

export const UNKNOWN = "–";

export function records(value: number | null | undefined, locale: string): string {
  return value == null ? UNKNOWN : new Intl.NumberFormat(locale, { maximumFractionDigits: 0 }).format(value);
}

/** Short, for axes and small places: 1.2k, 3.4M. */
export function compact(value: number, locale: string): string {
  return new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 }).format(value);
}

/** At most two units: "0.4 s", "12 s", "4 min 12 s", "3 h 20 min", "2 d 4 h". */
export function duration(seconds: number | null | undefined, units: Units): string {
  if (seconds == null || !Number.isFinite(seconds)) return UNKNOWN;
  if (seconds < 0) return `-${duration(-seconds, units)}`;
  if (seconds > 0 && seconds < 0.95) return `${Math.max(seconds, 0.1).toFixed(1)}${units.second}`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}${units.second}`;
  if (whole < 3600) return pair(Math.floor(whole / 60), units.minute, whole % 60, units.second);
  const minutes = Math.round(seconds / 60);
  if (minutes < 1440) return pair(Math.floor(minutes / 60), units.hour, minutes % 60, units.minute);
  const hours = Math.round(seconds / 3600);
  return pair(Math.floor(hours / 24), units.day, hours % 24, units.hour);
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit} ${small}${smallUnit}`;
}

export function rate(perSecond: number | null | undefined, locale: string, units: Units): string {
  if (perSecond == null) return UNKNOWN;
  const digits = perSecond > 0 && perSecond < 10 ? 1 : 0;
  return `${new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(perSecond)}${units.perSecond}`;
}

export function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

export function secondsSince(time: string | null | undefined, nowMs: number): number | null {
  return time == null ? null : Math.max(0, (nowMs - Date.parse(time)) / 1000);
}

/** The same in every language: 14:05:09. */
export function clock(time: string | number): string {
  return new Date(time).toLocaleTimeString("en-GB");
}

/** A time on an axis: over more than a day its date, too. */
export function axisTime(timeMs: number, spanMs: number, locale: string): string {
  const at = new Date(timeMs);
  const time = at.toLocaleTimeString("en-GB", spanMs > 3_600_000 ? { hour: "2-digit", minute: "2-digit" } : {});
  if (spanMs <= 86_400_000) return time;
  const day = at.toLocaleDateString(locale, { month: "short", day: "numeric" });
  return at.getHours() + at.getMinutes() === 0 ? day : `${day} ${time}`;
}

/** The time of today, and the date too of other days. */
export function moment(time: string, locale: string, nowMs: number): string {
  const at = new Date(time);
  const isToday = at.toDateString() === new Date(nowMs).toDateString();
  if (isToday) return clock(time);
  return `${at.toLocaleDateString(locale, { year: "numeric", month: "short", day: "numeric" })} ${clock(time)}`;
}
