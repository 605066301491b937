/** How far back the charts of a page reach; the address keeps it, and it takes a history to choose. */

import type { JSX } from "preact";
import { duration } from "../format";
import { useLive } from "../live";
import { keep, usePlace } from "../navigation";
import { RANGES, type Range, rangeOf } from "../ranges";
import { useWords } from "../settings";
import type { HistoryState } from "../types";

export interface ChosenRange {
  range: Range;
  /** Whether there is a history to choose from. */
  isChoice: boolean;
}

export function useRange(): ChosenRange {
  const { query } = usePlace();
  const history = useLive<HistoryState>("history", 60_000);
  const isChoice = history.data?.is_kept ?? false;
  return { range: isChoice ? rangeOf(query.get("range")) : RANGES[0], isChoice };
}

export function RangeChoice({ chosen }: { chosen: ChosenRange }): JSX.Element | null {
  const words = useWords();
  const { query } = usePlace();
  if (!chosen.isChoice) return null;
  const choose = (name: string) => {
    const next = new URLSearchParams(query);
    next.set("range", name);
    keep(next);
  };
  return (
    <div class="choices" role="group" aria-label={words.groupView.range}>
      {RANGES.map((range) => (
        <button
          key={range.name}
          type="button"
          class="chip"
          aria-pressed={range.name === chosen.range.name}
          onClick={() => choose(range.name)}
        >
          {duration(range.seconds, words.units)}
        </button>
      ))}
    </div>
  );
}
