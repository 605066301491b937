/** Small pieces of text: lag in records and seconds, ages, moments. */

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { copy } from "../copy";
import { duration, moment, records, secondsSince, UNKNOWN } from "../format";
import { useNow } from "../live";
import { useWords } from "../settings";

export function Records({ value }: { value: number | null | undefined }): JSX.Element {
  return <span class="number">{records(value, useWords().locale)}</span>;
}

export function Seconds({ value, orMore }: { value: number | null | undefined; orMore?: boolean }): JSX.Element {
  const text = duration(value, useWords().units);
  return <span class="number">{orMore && value != null ? `≥ ${text}` : text}</span>;
}

/** Records, and on a phone the time below them: elsewhere that has a column of its own. */
export function Lag({ records: unread, seconds }: { records: number | null; seconds: number | null }): JSX.Element {
  return (
    <>
      <Records value={unread} />
      <small class="phone-only muted">
        <Seconds value={seconds} />
      </small>
    </>
  );
}

/** How long ago, with the moment on hover. */
export function Age({ time, ago }: { time: string | null | undefined; ago?: boolean }): JSX.Element {
  const words = useWords();
  const nowMs = useNow();
  if (time == null) return <span class="number">{UNKNOWN}</span>;
  const age = duration(Math.round(secondsSince(time, nowMs) ?? 0), words.units);
  return (
    <time dateTime={time} title={new Date(time).toLocaleString(words.locale)} class="number">
      {ago ? words.ago(age) : age}
    </time>
  );
}

export function Moment({ time }: { time: string }): JSX.Element {
  const words = useWords();
  return (
    <time dateTime={time} title={time} class="number">
      {moment(time, words.locale, useNow())}
    </time>
  );
}

export function Panel(props: {
  title: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
}): JSX.Element {
  return (
    <section class={`panel ${props.class ?? ""}`}>
      <header>
        <h2>{props.title}</h2>
        {props.aside}
      </header>
      {props.children}
    </section>
  );
}

export function Fact({
  label,
  children,
  note,
}: {
  label: string;
  children: ComponentChildren;
  note?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="fact">
      <dt>{label}</dt>
      <dd>
        {children}
        {note != null && <small>{note}</small>}
      </dd>
    </div>
  );
}

export function CopyButton({ text }: { text: string }): JSX.Element {
  const words = useWords();
  const [said, setSaid] = useState<"copy" | "copied" | "notCopied">("copy");
  const onClick = async () => {
    setSaid((await copy(text)) ? "copied" : "notCopied");
    setTimeout(() => setSaid("copy"), 1_500);
  };
  return (
    <button type="button" class="quiet" aria-live="polite" onClick={() => void onClick()}>
      {words[said]}
    </button>
  );
}
