/** The partitions of a group as a table, and the commits of the one that was chosen. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { apiPath } from "../api";
import { duration, rate, UNKNOWN } from "../format";
import { isEndless, offsetsOf, type Offsets } from "../lag";
import { useHistory, useLive } from "../live";
import { isLong, type Range } from "../ranges";
import { useWords } from "../settings";
import type { OffsetsCourse, Partition, WindowEntry } from "../types";
import { Chart } from "../ui/chart";
import { Rows, type Column } from "../ui/rows";
import { Past, Whole } from "../ui/states";
import { Status } from "../ui/status";
import { Lag, Moment, Panel, Records, Seconds } from "../ui/words";

const ROW_PX = 44;
const HIGHEST_PX = 480;

interface PartitionsProps {
  partitions: Partition[];
  chosen: { topic: string; partition: number } | null;
  onChoose: (topic: string, partition: number) => void;
}

export function Partitions({ partitions, chosen, onChoose }: PartitionsProps): JSX.Element {
  const words = useWords();
  const [onlyTrouble, setOnlyTrouble] = useState(false);
  const shown = onlyTrouble ? partitions.filter((one) => one.status !== "OK") : partitions;
  const titles = words.groupView.columns;
  const columns: Column[] = [
    { key: "status", title: titles.status, width: "96px", narrow: "92px" },
    { key: "partition", title: titles.partition, width: "minmax(150px, 3fr)", narrow: "minmax(0, 1fr)" },
    { key: "lag", title: titles.lag, width: "76px", narrow: "88px", end: true },
    { key: "seconds", title: titles.seconds, width: "100px", end: true, hide: "narrow" },
    { key: "committed", title: titles.committed, width: "84px", end: true, hide: "mid" },
    { key: "end", title: titles.end, width: "84px", end: true, hide: "mid" },
    { key: "reads", title: titles.reads, width: "60px", end: true, hide: "mid" },
    { key: "writes", title: titles.writes, width: "60px", end: true, hide: "mid" },
    { key: "catchUp", title: titles.catchUp, width: "92px", end: true, hide: "mid" },
    { key: "age", title: titles.age, width: "88px", end: true, hide: "mid" },
    { key: "owner", title: titles.owner, width: "110px", hide: "mid" },
  ];
  const cells = (index: number) => {
    const one = shown[index];
    if (one === undefined) return null;
    const told = [words.reason(one.reason), ...one.conditions.map((each) => words.reason(each.reason))].join(" · ");
    return [
      <Status status={one.status} />,
      <span class="who">
        <span class="name">
          {one.topic} {one.partition}
        </span>
        <span class="why" title={told}>
          {told}
        </span>
      </span>,
      <Lag records={one.lag} seconds={one.lag_seconds ?? one.lag_seconds_at_least} />,
      <Seconds value={one.lag_seconds ?? one.lag_seconds_at_least} orMore={one.lag_seconds === null} />,
      <Records value={one.committed_offset} />,
      <Records value={one.end_offset} />,
      <span class="number">{rate(one.consumed_per_second, words.locale, words.units)}</span>,
      <span class="number">{rate(one.produced_per_second, words.locale, words.units)}</span>,
      isEndless(one) ? <span class="muted">{words.groupView.never}</span> : <Seconds value={one.catch_up_seconds} />,
      <Seconds value={one.commit_age_seconds} />,
      <span
        class="clip mono"
        title={one.owner === null ? "" : `${one.owner.client_id} ${one.owner.host} ${one.owner.member_id}`}
      >
        {one.owner?.client_id ?? UNKNOWN}
      </span>,
    ];
  };
  const selected = shown.findIndex((one) => one.topic === chosen?.topic && one.partition === chosen.partition);
  return (
    <>
      {partitions.some((one) => one.status !== "OK") && (
        <label class="check">
          <input
            type="checkbox"
            checked={onlyTrouble}
            onChange={(event) => setOnlyTrouble(event.currentTarget.checked)}
          />
          {words.groupView.onlyTrouble}
        </label>
      )}
      <Rows
        id="partition"
        label={words.groupView.partitions}
        columns={columns}
        count={shown.length}
        keys={shown.map((one) => `${one.topic} ${one.partition}`)}
        rowHeight={ROW_PX}
        maxHeight={HIGHEST_PX}
        cells={cells}
        selected={selected < 0 ? undefined : selected}
        onOpen={(index) => {
          const one = shown[index];
          if (one !== undefined) onChoose(one.topic, one.partition);
        }}
      />
    </>
  );
}

interface WindowProps {
  cluster: string;
  group: string;
  topic: string;
  partition: number;
  /** How far back the chart reaches. */
  range: Range;
}

export function PartitionWindow({ cluster, group, topic, partition, range }: WindowProps): JSX.Element {
  const words = useWords();
  const path = apiPath("clusters", cluster, "groups", group, "topics", topic, "partitions", String(partition));
  const live = useLive<Partition & { window: WindowEntry[]; evaluated_at: string }>(path);
  return (
    <Panel title={words.groupView.window(`${topic} ${partition}`)}>
      <p class="muted">{words.groupView.windowText}</p>
      <Whole live={live} rows={8}>
        {(found) => (
          <div class="columns">
            {isLong(range) ? (
              <PastOffsets key={range.name} path={path} range={range} />
            ) : (
              <OffsetsChart
                offsets={offsetsOf(found.window, found.end_offset, Date.parse(found.evaluated_at))}
                label={words.groupView.offsets}
              />
            )}
            <Commits entries={found.window} label={words.groupView.window(`${topic} ${partition}`)} />
          </div>
        )}
      </Whole>
    </Panel>
  );
}

/** Committed and end offset over hours and days, by the history. */
function PastOffsets({ path, range }: { path: string; range: Range }): JSX.Element {
  const words = useWords();
  const live = useHistory<OffsetsCourse>(path, range.seconds);
  return (
    <div>
      <Past live={live}>
        {(found) => (
          <OffsetsChart
            offsets={{
              timesMs: found.times.map((at) => Date.parse(at)),
              committed: found.committed_offset,
              ends: found.end_offset,
            }}
            label={`${words.groupView.offsets}, ${duration(range.seconds, words.units)}`}
          />
        )}
      </Past>
    </div>
  );
}

function OffsetsChart({ offsets, label }: { offsets: Offsets; label: string }): JSX.Element {
  const words = useWords();
  const { timesMs, committed, ends } = offsets;
  return (
    <Chart
      label={label}
      timesMs={timesMs}
      lines={[
        { label: words.groupView.committed, unit: "records", colour: "--line-1", values: committed },
        { label: words.groupView.end, unit: "records", colour: "--line-2", values: ends, dashed: true },
      ]}
    />
  );
}

function Commits({ entries, label }: { entries: WindowEntry[]; label: string }): JSX.Element {
  const words = useWords();
  const titles = words.groupView.columns;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">{titles.at}</th>
            <th scope="col" class="end">
              {titles.offset}
            </th>
            <th scope="col" class="end">
              {titles.lag}
            </th>
          </tr>
        </thead>
        <tbody>
          {[...entries].reverse().map((one, i) => (
            <tr key={i}>
              <td>
                <Moment time={one.committed_at ?? one.observed_at} />
              </td>
              <td class="end">
                <Records value={one.offset} />
              </td>
              <td class="end">
                <Records value={one.lag} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
