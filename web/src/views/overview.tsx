/** Every cluster at a glance, and the groups that need somebody, the worst first. */

import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { apiPath } from "../api";
import { duration, records } from "../format";
import { byBadness, shownStatus } from "../lag";
import { useLive, useLiveAll } from "../live";
import { Link } from "../navigation";
import { useWords } from "../settings";
import type { ChangeList, Cluster, ClusterList, GroupList, GroupSummary } from "../types";
import { Spark } from "../ui/spark";
import { Loading, Message, Whole } from "../ui/states";
import { Shape, Status } from "../ui/status";
import { Age, Fact, Moment, Panel, Records, Seconds } from "../ui/words";

const SHOWN = 25;
const IN_TROUBLE = new URLSearchParams([
  ["status", "ERR"],
  ["status", "WARN"],
]);
const NOTABLE_SKEW_S = 2;

export function Overview(): JSX.Element {
  const words = useWords();
  const clusters = useLive<ClusterList>("clusters");
  return (
    <div class="page">
      <h1 class="visually-hidden">{words.overview.title}</h1>
      <Whole live={clusters}>
        {({ clusters: found }) =>
          found.length === 0 ? (
            <Message title={words.state.noClusters}>
              <p>{words.state.noClustersText}</p>
            </Message>
          ) : (
            <>
              <div class="cards">
                {found.map((one) => (
                  <ClusterCard key={one.name} cluster={one} />
                ))}
              </div>
              <Attention clusters={found} />
              <Changes clusters={found} />
            </>
          )
        }
      </Whole>
    </div>
  );
}

function ClusterCard({ cluster }: { cluster: Cluster }): JSX.Element {
  const words = useWords();
  return (
    <section class="card" data-cluster={cluster.name}>
      <header>
        <h2>
          <Link to={{ view: "groups", cluster: cluster.name }}>{cluster.name}</Link>
        </h2>
        <Readiness cluster={cluster} />
      </header>
      <ul class="counts">
        {(["ERR", "WARN", "OK"] as const).map((status) => (
          <li key={status} class={cluster.groups_by_status[status] === 0 ? "zero" : ""}>
            <Link
              to={{ view: "groups", cluster: cluster.name }}
              query={new URLSearchParams({ status })}
              class={`count ${status.toLowerCase()}`}
            >
              <Shape status={status} />
              <b>{records(cluster.groups_by_status[status], words.locale)}</b>
              <span>{words.status[status]}</span>
            </Link>
          </li>
        ))}
      </ul>
      <dl class="facts">
        <Fact label={words.groupView.lag}>
          <Records value={cluster.total_lag} />
        </Fact>
        <Fact label={words.groupView.seconds}>
          <Seconds value={cluster.lag_seconds} />
        </Fact>
      </dl>
      <p class="muted">
        {words.groupsCount(cluster.group_count)} · {words.topicsCount(cluster.topic_count)}
        {cluster.cluster_id !== null && <span class="mono"> · {cluster.cluster_id}</span>}
      </p>
      <ul class="queries">
        {cluster.queries.map((one) => (
          <li key={one.name} class={one.state === "running" ? "running" : ""}>
            {one.name} <span class="muted">{words.about.queryStates[one.state]}</span>
          </li>
        ))}
      </ul>
      <Troubles cluster={cluster} />
    </section>
  );
}

type Ready = "ready" | "unreachable" | "starting" | "notReady";

function readiness(cluster: Cluster): Ready {
  if (cluster.queries.some((one) => one.state !== "running" && one.last_error !== null)) return "unreachable";
  if (cluster.ready) return "ready";
  return cluster.queries.length === 0 ? "starting" : "notReady";
}

function Readiness({ cluster }: { cluster: Cluster }): JSX.Element {
  const words = useWords();
  const state = readiness(cluster);
  return <span class={`ready ${state}`}>{words.overview[state]}</span>;
}

/** What is out of the ordinary with how the cluster is read; nothing as a rule. */
function Troubles({ cluster }: { cluster: Cluster }): JSX.Element | null {
  const words = useWords();
  const most = useRef(0);
  most.current = Math.max(most.current, cluster.behind_records);
  const undecodable = Object.values(cluster.undecodable_records).reduce((sum, one) => sum + one, 0);
  const failing = cluster.queries.filter((one) => one.last_error !== null && one.state !== "running");
  const lines: JSX.Element[] = [];
  if (!cluster.ready && cluster.queries.length === 0) lines.push(<li key="starting">{words.state.starting}</li>);
  if (!cluster.caught_up && cluster.behind_records > 0) {
    const done = most.current - cluster.behind_records;
    lines.push(
      <li key="behind">
        {words.overview.behind(records(cluster.behind_records, words.locale))}
        <progress max={most.current} value={done} aria-label={words.overview.notReady} />
      </li>,
    );
  }
  if (cluster.restored_at !== null)
    lines.push(
      <li key="restored">{words.overview.restored(new Date(cluster.restored_at).toLocaleString(words.locale))}</li>,
    );
  if (Math.abs(cluster.clock_skew_seconds) >= NOTABLE_SKEW_S)
    lines.push(<li key="skew">{words.overview.skew(duration(cluster.clock_skew_seconds, words.units))}</li>);
  if (cluster.stale_partitions.length > 0)
    lines.push(
      <li key="stale" title={words.reason(cluster.stale_partitions[0]?.reason ?? "")}>
        {words.overview.stale(cluster.stale_partitions.length)}
      </li>,
    );
  if (undecodable > 0)
    lines.push(<li key="poison">{words.overview.undecodable(records(undecodable, words.locale))}</li>);
  for (const one of failing)
    lines.push(
      <li key={one.name} class="err">
        <b>{one.name}</b> ({words.about.queryStates[one.state]}, {words.overview.restarts(one.restarts)}): {one.last_error}
      </li>,
    );
  return lines.length === 0 ? null : <ul class="troubles">{lines}</ul>;
}

type Placed = GroupSummary & { cluster: string; trail: (number | null)[] | undefined; times: string[] | undefined };

function Attention({ clusters }: { clusters: Cluster[] }): JSX.Element {
  const words = useWords();
  const asked = useLiveAll<GroupList>(
    clusters.map((one) => one.name),
    (name) => `${apiPath("clusters", name, "groups")}?${IN_TROUBLE}&limit=${SHOWN}&trail=true`,
  );
  const known = asked.flatMap(({ name, data }) => (data === null ? [] : [{ name, list: data }]));
  const unknown = asked.filter(({ data, error }) => data === null && error !== null);
  const isWaiting = known.length + unknown.length < asked.length;
  const worst = known.flatMap(placed).sort(byBadness).slice(0, SHOWN);
  const inTrouble = known.reduce((sum, { list }) => sum + list.matching, 0);
  if (worst.length === 0 && isWaiting) return <Loading rows={4} />;
  if (worst.length === 0 && unknown.length === 0) return <Calm clusters={clusters} />;
  return (
    <Panel title={words.overview.attention} aside={<span class="muted">{words.groupsCount(inTrouble)}</span>}>
      {unknown.map(({ name }) => (
        <p key={name} class="refusal" role="status">
          {words.overview.unknown(name)}
        </p>
      ))}
      <ol class="worst">
        {worst.map((one) => (
          <Worst key={`${one.cluster}\n${one.group}`} one={one} shows={clusters.length > 1} />
        ))}
      </ol>
      {known.map(({ name, list }) => (
        <More key={name} cluster={name} count={list.matching - worst.filter((one) => one.cluster === name).length} />
      ))}
    </Panel>
  );
}

/** Leads to those of a cluster that there was no room for. */
function More({ cluster, count }: { cluster: string; count: number }): JSX.Element | null {
  const words = useWords();
  if (count <= 0) return null;
  return (
    <p class="after">
      <Link to={{ view: "groups", cluster }} query={IN_TROUBLE}>
        {words.overview.attentionMore(count)}
      </Link>{" "}
      <small class="muted">{cluster}</small>
    </p>
  );
}

function placed({ name, list }: { name: string; list: GroupList }): Placed[] {
  return list.groups.map((one, i) => ({
    ...one,
    cluster: name,
    trail: list.trails?.total_lag[i],
    times: list.trails?.times,
  }));
}

/** Where nobody needs attention; a cluster that cannot be read has said so above, and will not be ready by waiting. */
function Calm({ clusters: all }: { clusters: Cluster[] }): JSX.Element | null {
  const words = useWords();
  const groups = all.reduce((sum, one) => sum + one.group_count, 0);
  const clusters = all.filter((one) => readiness(one) !== "unreachable");
  if (all.length > 0 && clusters.length === 0) return null;
  const isReady = clusters.every((one) => one.ready);
  const behind = clusters.reduce((sum, one) => sum + one.behind_records, 0);
  if (!isReady)
    return (
      <Message title={words.overview.notReady} tone="warn">
        <p>{behind > 0 ? words.state.catchingUp(records(behind, words.locale)) : words.state.starting}</p>
      </Message>
    );
  if (groups === 0)
    return (
      <Message title={words.state.noGroups}>
        <p>{words.state.noGroupsText}</p>
      </Message>
    );
  return (
    <Message title={words.overview.fine}>
      <p>{words.overview.fineText(words.groupsCount(groups), clusters.length)}</p>
    </Message>
  );
}

function Worst({ one, shows }: { one: Placed; shows: boolean }): JSX.Element {
  const words = useWords();
  const status = shownStatus(one);
  return (
    <li>
      <Link to={{ view: "group", cluster: one.cluster, group: one.group }} class="worst-row">
        <Status status={status} />
        <span class="who">
          <b>{one.group}</b>
          {shows && <small class="muted"> {one.cluster}</small>}
          <span class="why">
            {one.cause === null
              ? words.reason(one.note ?? "")
              : `${one.cause.topic} ${one.cause.partition}: ${words.reason(one.cause.reason)}`}
          </span>
        </span>
        <span class="how-much">
          <Records value={one.total_lag} />
          <small class="muted">{words.groups.columns.lag}</small>
        </span>
        <span class="how-much">
          <Seconds value={one.lag_seconds} />
          <small class="muted">{words.groups.columns.seconds}</small>
        </span>
        <Spark values={one.trail} times={one.times} status={status} />
        <span class="how-much since">
          <Age time={one.since} />
          <small class="muted">{words.groups.columns.since}</small>
        </span>
      </Link>
    </li>
  );
}

function Changes({ clusters }: { clusters: Cluster[] }): JSX.Element | null {
  const words = useWords();
  const asked = useLiveAll<ChangeList>(
    clusters.map((one) => one.name),
    (name) => `${apiPath("clusters", name, "changes")}?limit=8`,
  );
  if (asked.every((one) => one.data === null)) return null;
  const all = asked.flatMap(({ name, data }) => (data?.changes ?? []).map((one) => ({ ...one, cluster: name })));
  const newest = all.sort((a, b) => b.at.localeCompare(a.at)).slice(0, 8);
  return (
    <Panel title={words.overview.changes}>
      {newest.length === 0 ? (
        <p class="muted after">{words.overview.noChanges}</p>
      ) : (
        <ol class="changes">
          {newest.map((one) => (
            <li key={`${one.at}${one.cluster}${one.group}`}>
              <Moment time={one.at} />
              <span class="turn">
                <Status status={one.was} before /> <span aria-hidden="true">→</span> <Status status={one.now} />
              </span>
              <Link to={{ view: "group", cluster: one.cluster, group: one.group }}>{one.group}</Link>
              <span class="why">{one.cause === null ? "" : words.reason(one.cause.reason)}</span>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}
