/** What a list is chosen and searched with. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useWords } from "../settings";

const TYPING_MS = 200;

interface TypedProps {
  label: string;
  value: string;
  onType: (text: string) => void;
  /** The one that `/` leads to. */
  isSearch?: boolean;
}

/** Tells what was typed when the typing pauses; Escape empties it. */
export function Typed({ label, value, onType, isSearch = false }: TypedProps): JSX.Element {
  const [text, setText] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  const told = useRef(value);
  const tell = useRef(onType);
  tell.current = onType;
  useSlash(input, isSearch);
  useEffect(() => {
    if (value !== told.current) {
      told.current = value;
      setText(value);
    }
  }, [value]);
  useEffect(() => {
    if (text === told.current) return undefined;
    const timer = setTimeout(() => {
      told.current = text;
      tell.current(text);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    setText("");
    if (text === "") input.current?.blur();
  };
  return (
    <input
      ref={input}
      type="search"
      class={isSearch ? "wide" : ""}
      placeholder={label}
      aria-label={label}
      value={text}
      spellcheck={false}
      onInput={(event) => setText(event.currentTarget.value)}
      onKeyDown={onKey}
    />
  );
}

function useSlash(input: { current: HTMLInputElement | null }, isSearch: boolean): void {
  useEffect(() => {
    if (!isSearch) return undefined;
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if (event.key !== "/" || isTyping) return;
      event.preventDefault();
      input.current?.focus();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [isSearch]);
}

interface ClusterChoiceProps {
  cluster: string;
  clusters: string[];
  onChoose: (cluster: string) => void;
}

export function ClusterChoice({ cluster, clusters, onChoose }: ClusterChoiceProps): JSX.Element {
  const words = useWords();
  if (clusters.length < 2) return <span class="muted">{cluster}</span>;
  return (
    <select aria-label={words.cluster} value={cluster} onChange={(event) => onChoose(event.currentTarget.value)}>
      {clusters.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  );
}
