/** A small line without axes; the numbers stand beside it. */

import type { JSX } from "preact";
import { sparkPath } from "../lag";
import type { AnyStatus } from "../types";
import { toneOf } from "./status";

const WIDTH = 120;
const HEIGHT = 26;

export function Spark({ values, status }: { values: (number | null)[] | undefined; status: AnyStatus | null }): JSX.Element {
  const path = sparkPath(values ?? [], WIDTH, HEIGHT);
  return (
    <svg class={`spark ${toneOf(status)}`} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}
