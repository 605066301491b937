/** Which view an address means, and the address of a view. Pure; names may have any letters in them. */

export type View =
  | { view: "overview" }
  | { view: "groups"; cluster: string }
  | { view: "group"; cluster: string; group: string }
  | { view: "topics"; cluster: string }
  | { view: "topic"; cluster: string; topic: string }
  | { view: "incidents" }
  | { view: "notifiers" }
  | { view: "config" }
  | { view: "about" }
  | { view: "nothing" };

const SINGLE = ["incidents", "notifiers", "config", "about"] as const;

/** `path` is relative to where the page begins: "", "ui/incidents", "ui/clusters/a/groups/b%2Fc". */
export function parsePath(path: string): View {
  const parts = path.split("/").filter(Boolean).map(decoded);
  if (parts.length === 0 || (parts[0] === "ui" && parts.length === 1)) return { view: "overview" };
  const [ui, first, cluster, kind, name, ...more] = parts;
  if (ui !== "ui" || more.length > 0) return { view: "nothing" };
  const single = SINGLE.find((one) => one === first);
  if (single !== undefined && cluster === undefined) return { view: single };
  if (first !== "clusters" || cluster === undefined) return { view: "nothing" };
  if (kind === "groups")
    return name === undefined ? { view: "groups", cluster } : { view: "group", cluster, group: name };
  if (kind === "topics")
    return name === undefined ? { view: "topics", cluster } : { view: "topic", cluster, topic: name };
  return { view: "nothing" };
}

export function pathOf(view: View): string {
  switch (view.view) {
    case "overview":
    case "nothing":
      return "";
    case "groups":
    case "topics":
      return `ui/clusters/${encoded(view.cluster)}/${view.view}`;
    case "group":
      return `ui/clusters/${encoded(view.cluster)}/groups/${encoded(view.group)}`;
    case "topic":
      return `ui/clusters/${encoded(view.cluster)}/topics/${encoded(view.topic)}`;
    default:
      return `ui/${view.view}`;
  }
}

export const encoded = encodeURIComponent;

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const STATUSES = ["ERR", "WARN", "OK"] as const;
export const TYPES = ["classic", "consumer", "simple", "share", "streams"] as const;
export const SORTS = [
  "severity",
  "name",
  "total_lag",
  "lag_seconds",
  "lost_records",
  "since",
  "partition_count",
] as const;
export type Sort = (typeof SORTS)[number];

/** What the list of groups shows; the address keeps it. */
export interface GroupFilter {
  status: string[];
  type: string[];
  name: string;
  topic: string;
  owner: string;
  sort: Sort;
  reverse: boolean;
}

export function parseFilter(query: URLSearchParams): GroupFilter {
  return {
    status: query.getAll("status").filter((one) => (STATUSES as readonly string[]).includes(one)),
    type: query.getAll("type").filter((one) => (TYPES as readonly string[]).includes(one)),
    name: query.get("name") ?? "",
    topic: query.get("topic") ?? "",
    owner: query.get("owner") ?? "",
    sort: SORTS.find((one) => one === query.get("sort")) ?? "severity",
    reverse: query.get("reverse") === "true",
  };
}

/** Only what is not as usual, so that addresses stay short; API v1 takes the same words. */
export function filterQuery(filter: GroupFilter): URLSearchParams {
  const query = new URLSearchParams();
  for (const one of filter.status) query.append("status", one);
  for (const one of filter.type) query.append("type", one);
  for (const key of ["name", "topic", "owner"] as const) if (filter[key]) query.set(key, filter[key]);
  if (filter.sort !== "severity") query.set("sort", filter.sort);
  if (filter.reverse) query.set("reverse", "true");
  return query;
}

/** A click on a column sorts by it, a second one the other way round. */
export function sortedBy(filter: GroupFilter, sort: Sort): GroupFilter {
  return { ...filter, sort, reverse: filter.sort === sort ? !filter.reverse : false };
}

export function toggled(list: readonly string[], item: string): string[] {
  return list.includes(item) ? list.filter((one) => one !== item) : [...list, item];
}

export function withQuery(path: string, query: URLSearchParams): string {
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/** Where in a list the answer to a path begins. */
export function offsetIn(path: string): number {
  return Number(queryOf(path).get("offset") ?? 0);
}

/** Whether two paths ask for parts of the same list. */
export function isSameList(one: string, other: string): boolean {
  return withoutPart(one) === withoutPart(other);
}

function withoutPart(path: string): string {
  const query = queryOf(path);
  query.delete("limit");
  query.delete("offset");
  return withQuery(path.split("?", 1)[0] ?? "", query);
}

function queryOf(path: string): URLSearchParams {
  return new URLSearchParams(path.split("?")[1] ?? "");
}
