/** One group: what is said of it and why, how its lag has gone, and what the verdict is made of. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { apiPath, BASE } from "../api";
import { duration, moment, percent, secondsSince } from "../format";
import { shellWord, shownStatus } from "../lag";
import { useHistory, useLive, useNow } from "../live";
import { keep, Link, usePlace } from "../navigation";
import { isLong } from "../ranges";
import { useWords } from "../settings";
import type { Group, IncidentList, Member, Silence, Trail, WindowList } from "../types";
import { Chart } from "../ui/chart";
import { Heat } from "../ui/heat";
import { type ChosenRange, RangeChoice, useRange } from "../ui/range";
import { Past, Whole } from "../ui/states";
import { Status, toneOf } from "../ui/status";
import { CopyButton, Fact, Panel, Records, Seconds } from "../ui/words";
import { IncidentItems } from "./incidents";
import { PartitionWindow, Partitions } from "./partitions";
import { isAbout, SilenceDialog } from "./silences";

const MOST_WINDOWS = 200;

export function GroupView({ cluster, group }: { cluster: string; group: string }): JSX.Element {
  const live = useLive<Group>(apiPath("clusters", cluster, "groups", group));
  return (
    <>
      {live.data === null && <h1 class="visually-hidden">{group}</h1>}
      <Whole live={live}>{(found) => <Found one={found} />}</Whole>
    </>
  );
}

function Found({ one }: { one: Group }): JSX.Element {
  const words = useWords();
  const { query } = usePlace();
  const chosen = chosenPartition(one, query);
  const range = useRange();
  const choose = (topic: string, partition: number) => {
    const next = new URLSearchParams(query);
    next.set("topic", topic);
    next.set("partition", String(partition));
    keep(next);
  };
  const hasPartitions = one.partitions.length > 0;
  return (
    <div class="page">
      <Verdict one={one} />
      {hasPartitions && <LagChart one={one} chosen={range} />}
      {hasPartitions && (
        <Panel
          title={words.groupView.partitions}
          aside={<span class="muted">{words.partitionsCount(one.partition_count)}</span>}
        >
          <Partitions partitions={one.partitions} chosen={chosen} onChoose={choose} />
        </Panel>
      )}
      {chosen !== null && (
        <PartitionWindow
          key={`${chosen.topic} ${chosen.partition}`}
          cluster={one.cluster}
          group={one.group}
          topic={chosen.topic}
          partition={chosen.partition}
          range={range.range}
        />
      )}
      {hasPartitions && <HeatPanel one={one} onChoose={choose} />}
      <div class="columns">
        <Members members={one.members} />
        <Incidents cluster={one.cluster} group={one.group} />
      </div>
      <Commands one={one} />
    </div>
  );
}

/** The one in the address, or the one that made the group what it is. */
function chosenPartition(one: Group, query: URLSearchParams): { topic: string; partition: number } | null {
  const wanted = { topic: query.get("topic") ?? "", partition: Number(query.get("partition") ?? NaN) };
  const found = one.partitions.find((each) => each.topic === wanted.topic && each.partition === wanted.partition);
  return found ?? one.cause ?? null;
}

function Verdict({ one }: { one: Group }): JSX.Element {
  const words = useWords();
  const nowMs = useNow();
  const status = shownStatus(one);
  const reason = words.reason(one.cause === null ? (one.note ?? words.groupView.noReason) : one.cause.reason);
  return (
    <header class={`verdict ${toneOf(status)}`}>
      <nav class="crumbs" aria-label={words.cluster}>
        <Link to={{ view: "groups", cluster: one.cluster }}>{one.cluster}</Link> <span aria-hidden="true">/</span>
      </nav>
      <div class="headline">
        <h1>{one.group}</h1>
        <Status status={status} large />
        <Silencing one={one} />
      </div>
      <p class="sentence">
        <b>{words.says[status ?? "none"]}</b>
        {one.cause !== null && (
          <>
            {" · "}
            <Link to={{ view: "topic", cluster: one.cluster, topic: one.cause.topic }}>
              {one.cause.topic} {one.cause.partition}
            </Link>
          </>
        )}
        : {reason}
        {one.since !== null && (
          <span class="muted">
            {" · "}
            {words.since(moment(one.since, words.locale, nowMs), duration(secondsSince(one.since, nowMs), words.units))}
          </span>
        )}
      </p>
      {one.stale_since !== null && (
        <p class="warn-text">
          {words.groupView.stale(duration(secondsSince(one.stale_since, nowMs), words.units))} {words.reason(one.note ?? "")}
        </p>
      )}
      <Facts one={one} />
      <RuleSets one={one} />
    </header>
  );
}

function Facts({ one }: { one: Group }): JSX.Element {
  const words = useWords();
  return (
    <dl class="facts">
      <Fact label={words.groupView.lag}>
        <Records value={one.total_lag} />
      </Fact>
      <Fact label={words.groupView.seconds}>
        <Seconds value={one.lag_seconds} />
      </Fact>
      <Fact label={words.groupView.lost} note={one.lost_records ? words.groupView.lostText : null}>
        <Records value={one.lost_records} />
      </Fact>
      <Fact label={words.groupView.complete}>{percent(one.complete)}</Fact>
      <Fact label={words.groupView.type} note={one.state}>
        {one.type}
      </Fact>
      <Fact label={words.groupView.members}>
        <Records value={one.member_count} />
      </Fact>
    </dl>
  );
}

function RuleSets({ one }: { one: Group }): JSX.Element | null {
  const words = useWords();
  const names = (["burrow", "warren"] as const).filter((name) => one.by_rule_set[name] !== undefined);
  if (names.length === 0) return null;
  return (
    <section aria-label={words.groupView.rules}>
      <ul class="rule-sets">
        {names.map((name) => {
          const found = one.by_rule_set[name];
          return (
            <li key={name} class={name === one.rule_set ? "own" : ""}>
              <span class="rule-name">
                {name}
                {name === one.rule_set && <small> {words.groupView.own}</small>}
              </span>
              <Status status={found === undefined ? null : shownStatus(found)} />
              <span class="why">{words.reason(found?.reason ?? "")}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Silencing({ one }: { one: Group }): JSX.Element {
  const words = useWords();
  const [isAsking, setAsking] = useState(false);
  const live = useLive<{ silences: Silence[] }>("silences", 10_000);
  const active = live.data?.silences.find((each) => each.state === "active" && isAbout(each, one));
  return (
    <span class="silencing">
      {active !== undefined && (
        <span class="badge">{words.groupView.silenced(new Date(active.until).toLocaleString(words.locale))}</span>
      )}
      <button type="button" class="quiet" onClick={() => setAsking(true)}>
        {words.groupView.silence}
      </button>
      {isAsking && (
        <SilenceDialog
          cluster={one.cluster}
          group={one.group}
          onClose={() => {
            setAsking(false);
            live.again();
          }}
        />
      )}
    </span>
  );
}

/** The last hour is at hand; what is longer comes from the history. */
function LagChart({ one, chosen }: { one: Group; chosen: ChosenRange }): JSX.Element {
  const words = useWords();
  const path = apiPath("clusters", one.cluster, "groups", one.group);
  const { name, seconds } = chosen.range;
  return (
    <Panel title={words.groupView.chart} aside={<RangeChoice chosen={chosen} />}>
      {isLong(chosen.range) ? <PastCourse key={name} path={path} seconds={seconds} /> : <LastHour path={path} />}
    </Panel>
  );
}

function LastHour({ path }: { path: string }): JSX.Element {
  const live = useLive<Trail>(`${path}/trail`, 5_000);
  return <Whole live={live}>{(trail) => <Course trail={trail} />}</Whole>;
}

function PastCourse({ path, seconds }: { path: string; seconds: number }): JSX.Element {
  const live = useHistory<Trail>(path, seconds);
  return <Past live={live}>{(trail) => <Course trail={trail} />}</Past>;
}

function Course({ trail }: { trail: Trail }): JSX.Element {
  const words = useWords();
  if (trail.times.length < 2) return <p class="muted after">{words.groupView.chartEmpty}</p>;
  return (
    <Chart
      label={words.groupView.chart}
      timesMs={trail.times.map((at) => Date.parse(at))}
      lines={[
        { label: words.groupView.lag, unit: "records", colour: "--line-1", values: trail.total_lag },
        {
          label: words.groupView.seconds,
          unit: "seconds",
          colour: "--line-2",
          values: trail.lag_seconds,
          dashed: true,
        },
      ]}
    />
  );
}

function HeatPanel({
  one,
  onChoose,
}: {
  one: Group;
  onChoose: (topic: string, partition: number) => void;
}): JSX.Element {
  const words = useWords();
  const live = useLive<WindowList>(
    `${apiPath("clusters", one.cluster, "groups", one.group, "windows")}?limit=${MOST_WINDOWS}`,
    5_000,
  );
  return (
    <Panel title={words.groupView.heat}>
      <p class="muted">{words.groupView.heatText}</p>
      <Whole live={live}>
        {(found) => (
          <>
            <Heat windows={found.windows} nowMs={Date.parse(one.evaluated_at)} onChoose={onChoose} />
            {found.matching > found.windows.length && (
              <p class="muted">{words.groupView.heatMore(found.windows.length, found.matching)}</p>
            )}
          </>
        )}
      </Whole>
    </Panel>
  );
}

function Members({ members }: { members: Member[] }): JSX.Element {
  const words = useWords();
  return (
    <Panel title={words.groupView.members} aside={<span class="muted">{words.membersCount(members.length)}</span>}>
      {members.length === 0 ? (
        <p class="muted after">{words.groupView.noMembers}</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label={words.groupView.members}>
          <table>
            <thead>
              <tr>
                <th scope="col">{words.groupView.client}</th>
                <th scope="col">{words.groupView.host}</th>
                <th scope="col">{words.groupView.assigned}</th>
              </tr>
            </thead>
            <tbody>
              {members.map((one) => (
                <tr key={one.member_id}>
                  <td title={one.member_id}>
                    {one.client_id}
                    {one.instance_id !== null && <small class="muted"> {one.instance_id}</small>}
                  </td>
                  <td class="mono">{one.host}</td>
                  <td class="mono">
                    {one.assigned.map((at) => `${at.topic ?? at.topic_id ?? ""} ${spans(at.partitions)}`).join(", ")}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

/** 0, 1, 2, 5 as "0-2 5". */
function spans(partitions: number[]): string {
  const found: [number, number][] = [];
  for (const one of [...partitions].sort((a, b) => a - b)) {
    const last = found.at(-1);
    if (last !== undefined && last[1] === one - 1) last[1] = one;
    else found.push([one, one]);
  }
  return found.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(" ");
}

function Incidents({ cluster, group }: { cluster: string; group: string }): JSX.Element {
  const words = useWords();
  const query = new URLSearchParams({ cluster, group, limit: "10" });
  const live = useLive<IncidentList>(`incidents?${query}`, 5_000);
  return (
    <Panel title={words.groupView.incidents}>
      <Whole live={live}>
        {({ incidents }) =>
          incidents.length === 0 ? (
            <p class="muted after">{words.groupView.noIncidents}</p>
          ) : (
            <IncidentItems incidents={incidents} named={false} />
          )
        }
      </Whole>
    </Panel>
  );
}

function Commands({ one }: { one: Group }): JSX.Element {
  const words = useWords();
  const v1 = new URL(apiPath("clusters", one.cluster, "groups", one.group), BASE).href;
  const v3 = new URL(`../../v3/kafka/${apiPath(one.cluster, "consumer", one.group)}/lag`, BASE).href;
  return (
    <Panel title={words.groupView.commands}>
      <ul class="commands">
        {[v1, `${v1}/trail`, `${v1}/windows`, v3].map((url) => (
          <li key={url}>
            <code>curl -s {shellWord(url)}</code>
            <CopyButton text={`curl -s ${shellWord(url)}`} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
