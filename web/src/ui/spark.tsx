/** A small line without axes; the numbers stand beside it. */

import type { JSX } from "preact";
import { sparkPath } from "../lag";
import type { AnyStatus } from "../types";
import { toneOf } from "./status";

const WIDTH = 120;
const HEIGHT = 26;

interface SparkProps {
  values: (number | null)[] | undefined;
  times: string[] | undefined;
  status: AnyStatus | null;
}

export function Spark({ values = [], times = [], status }: SparkProps): JSX.Element {
  const path = sparkPath(
    values,
    times.map((one) => Date.parse(one)),
    WIDTH,
    HEIGHT,
  );
  return (
    <svg
      class={`spark ${toneOf(status)}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={path} />
    </svg>
  );
}
