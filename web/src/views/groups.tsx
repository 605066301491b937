/** All groups of a cluster: found, sorted and opened without waiting, however many they are. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { apiPath } from "../api";
import { records } from "../format";
import { shownStatus } from "../lag";
import { useLive } from "../live";
import { go, keep, Link, usePlace } from "../navigation";
import { useWords } from "../settings";
import type { GroupList } from "../types";
import { ClusterChoice, Typed } from "../ui/fields";
import { Rows, type Column } from "../ui/rows";
import { Spark } from "../ui/spark";
import { Message, Whole } from "../ui/states";
import { Shape, Status } from "../ui/status";
import { Age, Lag, Records, Seconds } from "../ui/words";
import {
  filterQuery,
  isSameList,
  offsetIn,
  parseFilter,
  sortedBy,
  STATUSES,
  toggled,
  TYPES,
  type GroupFilter,
  type Sort,
} from "../urls";
import { pageAfter, pageFor, remembered, type Page, type Range } from "../virtual";

const ROW_PX = 52;

export function GroupsView({ cluster, clusters }: { cluster: string; clusters: string[] }): JSX.Element {
  const words = useWords();
  const { query } = usePlace();
  const filter = parseFilter(query);
  const [page, setPage] = useState<Page>(pageFor({ first: 0, end: 30 }));
  const path = groupsPath(cluster, filter, page);
  const live = useLive<GroupList>(path);
  const change = (next: GroupFilter) => keep(filterQuery(next));
  const list = live.data;
  const isOld = !isSameList(live.path, path);
  return (
    <div class="page full">
      <header class="title">
        <h1>{words.groups.title}</h1>
        <ClusterChoice
          cluster={cluster}
          clusters={clusters}
          onChoose={(other) => go({ view: "groups", cluster: other }, filterQuery(filter))}
        />
        <span class="muted" role="status">
          {list !== null && words.groups.matching(list.matching, counted(list))}
        </span>
        <span class="hint muted">{words.groups.keys}</span>
      </header>
      <Filters filter={filter} onChange={change} counts={list?.by_status} />
      <Whole live={live} rows={10}>
        {(found) =>
          found.matching === 0 ? (
            <NoGroups
              isFiltered={filterQuery({ ...filter, sort: "severity", reverse: false }).size > 0}
              isOld={isOld}
            />
          ) : (
            <Table
              cluster={cluster}
              list={found}
              offset={offsetIn(live.path)}
              isOld={isOld}
              filter={filter}
              onChange={change}
              onRange={(range) => setPage((before) => pageAfter(before, range))}
            />
          )
        }
      </Whole>
    </div>
  );
}

function groupsPath(cluster: string, filter: GroupFilter, page: { offset: number; limit: number }): string {
  const query = filterQuery(filter);
  query.set("trail", "true");
  query.set("limit", String(page.limit));
  query.set("offset", String(page.offset));
  return `${apiPath("clusters", cluster, "groups")}?${query}`;
}

/** All groups there are: those without a status are only seen in a list without filters. */
function counted(list: GroupList): number {
  return Math.max(list.matching, list.by_status.OK + list.by_status.WARN + list.by_status.ERR);
}

function NoGroups({ isFiltered, isOld }: { isFiltered: boolean; isOld: boolean }): JSX.Element {
  const words = useWords();
  if (!isFiltered)
    return (
      <Message title={words.state.noGroups} isOld={isOld}>
        <p>{words.state.noGroupsText}</p>
      </Message>
    );
  return (
    <Message title={words.state.noMatch} isOld={isOld}>
      <button type="button" onClick={() => keep(new URLSearchParams())}>
        {words.state.clearFilters}
      </button>
    </Message>
  );
}

interface FiltersProps {
  filter: GroupFilter;
  onChange: (filter: GroupFilter) => void;
  counts: GroupList["by_status"] | undefined;
}

function Filters({ filter, onChange, counts }: FiltersProps): JSX.Element {
  const words = useWords();
  return (
    <div class="filters" role="search">
      <Typed
        label={words.groups.search}
        value={filter.name}
        onType={(name) => onChange({ ...filter, name })}
        isSearch
      />
      <fieldset class="chips">
        <legend class="visually-hidden">{words.groups.statusFilter}</legend>
        {STATUSES.map((one) => (
          <button
            key={one}
            type="button"
            class={`chip ${one.toLowerCase()}`}
            aria-pressed={filter.status.includes(one)}
            onClick={() => onChange({ ...filter, status: toggled(filter.status, one) })}
          >
            <Shape status={one} />
            {words.status[one]}
            {counts !== undefined && <span class="number"> {records(counts[one], words.locale)}</span>}
          </button>
        ))}
      </fieldset>
      <select
        aria-label={words.groups.typeFilter}
        value={filter.type[0] ?? ""}
        onChange={(event) =>
          onChange({ ...filter, type: event.currentTarget.value ? [event.currentTarget.value] : [] })
        }
      >
        <option value="">{`${words.groups.typeFilter}: ${words.all}`}</option>
        {TYPES.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
      <Typed label={words.groups.topicFilter} value={filter.topic} onType={(topic) => onChange({ ...filter, topic })} />
      <Typed label={words.groups.ownerFilter} value={filter.owner} onType={(owner) => onChange({ ...filter, owner })} />
    </div>
  );
}

interface TableProps {
  cluster: string;
  list: GroupList;
  offset: number;
  isOld: boolean;
  filter: GroupFilter;
  onChange: (filter: GroupFilter) => void;
  onRange: (range: Range) => void;
}

function Table({ cluster, list, offset, isOld, filter, onChange, onRange }: TableProps): JSX.Element {
  const words = useWords();
  const titles = words.groups.columns;
  const sorting = (sort: Sort): Pick<Column, "sorted" | "onSort"> => ({
    sorted: filter.sort !== sort ? undefined : (sort === "name") !== filter.reverse ? "ascending" : "descending",
    onSort: () => onChange(sortedBy(filter, sort)),
  });
  const columns: Column[] = [
    { key: "status", title: titles.status, width: "96px", narrow: "92px", ...sorting("severity") },
    { key: "name", title: titles.name, width: "minmax(200px, 3fr)", narrow: "minmax(0, 1fr)", ...sorting("name") },
    { key: "topics", title: titles.topics, width: "minmax(90px, 1fr)", hide: "mid" },
    { key: "lag", title: titles.lag, width: "112px", narrow: "84px", end: true, ...sorting("total_lag") },
    { key: "seconds", title: titles.seconds, width: "110px", end: true, hide: "narrow", ...sorting("lag_seconds") },
    { key: "trail", title: titles.trail, width: "136px", hide: "mid" },
    { key: "since", title: titles.since, width: "110px", end: true, hide: "mid", ...sorting("since") },
    {
      key: "partitions",
      title: titles.partitions,
      width: "96px",
      end: true,
      hide: "mid",
      ...sorting("partition_count"),
    },
  ];
  const makeCells = (index: number) => {
    const one = list.groups[index - offset];
    if (one === undefined) return null;
    const status = shownStatus(one);
    return [
      <Status status={status} />,
      <span class="who">
        <Link to={{ view: "group", cluster, group: one.group }} tabIndex={-1} class="name" title={one.group}>
          {one.group}
        </Link>
        <span class="why" title={words.reason(one.cause?.reason ?? one.note ?? "")}>
          {one.cause === null
            ? words.reason(one.note ?? "")
            : `${one.cause.topic} ${one.cause.partition}: ${words.reason(one.cause.reason)}`}
        </span>
      </span>,
      <span class="clip" title={one.topics.join(", ")}>
        {one.topics.join(", ")}
      </span>,
      <Lag records={one.total_lag} seconds={one.lag_seconds} />,
      <Seconds value={one.lag_seconds} />,
      <Spark values={list.trails?.total_lag[index - offset]} times={list.trails?.times} status={status} />,
      <Age time={one.since} />,
      <Records value={one.partition_count} />,
    ];
  };
  const cells = useMemo(() => remembered(makeCells), [list, offset, cluster, words]);
  const open = (index: number) => {
    const one = list.groups[index - offset];
    if (one !== undefined) go({ view: "group", cluster, group: one.group });
  };
  return (
    <Rows
      id="group"
      label={words.groups.title}
      columns={columns}
      count={list.matching}
      keys={list.groups.map((one) => one.group)}
      offset={offset}
      isOld={isOld}
      rowHeight={ROW_PX}
      cells={cells}
      onOpen={open}
      onRange={onRange}
    />
  );
}
