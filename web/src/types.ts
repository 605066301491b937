/** What API v1 answers, as far as the page reads it; docs/api.md tells what the fields mean. */

export type GroupStatus = "OK" | "WARN" | "ERR";
export type PartitionStatus = "OK" | "WARN" | "STOP" | "STALL" | "REWIND";
export type AnyStatus = GroupStatus | PartitionStatus | "NOTFOUND";
export type RuleSetName = "burrow" | "warren";

export interface Query {
  name: string;
  state: "starting" | "running" | "retrying" | "stopped";
  last_error: string | null;
  restarts: number;
}

export interface Cluster {
  name: string;
  cluster_id: string | null;
  ready: boolean;
  caught_up: boolean;
  behind_records: number;
  restored_at: string | null;
  clock_skew_seconds: number;
  evaluated_at: string;
  group_count: number;
  groups_by_status: Record<GroupStatus, number>;
  total_lag: number;
  lag_seconds: number | null;
  topic_count: number;
  undecodable_records: Record<string, number>;
  undecodable_examples: { partition: number; offset: number; kind: string; reason: string }[];
  groups_by_type: Record<string, number>;
  stale_partitions: { partition: number; since: string; reason: string }[];
  queries: Query[];
}

export interface ClusterList {
  clusters: Cluster[];
}

export interface Cause {
  topic: string;
  partition: number;
  status: PartitionStatus;
  rule: string;
  reason: string;
}

export interface GroupSummary {
  group: string;
  type: string;
  state: string;
  member_count: number;
  rule_set: RuleSetName;
  status: GroupStatus | null;
  stale_since: string | null;
  note: string | null;
  since: string | null;
  partition_count: number;
  complete: number;
  total_lag: number | null;
  lag_seconds: number | null;
  lost_records: number | null;
  topics: string[];
  cause: Cause | null;
}

export interface GroupList {
  evaluated_at: string;
  restored_at: string | null;
  matching: number;
  by_status: Record<GroupStatus, number>;
  groups: GroupSummary[];
  trails?: { times: string[]; total_lag: (number | null)[][] };
  next: string | null;
}

export interface Owner {
  host: string;
  client_id: string;
  member_id: string;
  instance_id: string | null;
}

export interface Partition {
  topic: string;
  partition: number;
  status: PartitionStatus;
  rule: string;
  reason: string;
  since: string | null;
  owner: Owner | null;
  committed_offset: number | null;
  committed_at: string | null;
  end_offset: number | null;
  log_start: number | null;
  lag: number | null;
  conditions: { condition: string; reason: string }[];
  lag_seconds: number | null;
  lag_seconds_at_least: number | null;
  consumed_per_second: number | null;
  produced_per_second: number | null;
  catch_up_seconds: number | null;
  commit_age_seconds: number | null;
  lost_records: number | null;
  loss_in_seconds: number | null;
  complete: number;
}

export interface Member {
  member_id: string;
  client_id: string;
  host: string;
  instance_id: string | null;
  assigned: { topic: string | null; topic_id: string | null; partitions: number[] }[];
}

export interface Group extends GroupSummary {
  cluster: string;
  evaluated_at: string;
  restored_at: string | null;
  epoch: number | null;
  members: Member[];
  by_rule_set: Partial<Record<RuleSetName, { status: GroupStatus; reason: string; cause: Cause }>>;
  partitions: Partition[];
}

export interface WindowEntry {
  offset: number;
  committed_at: string | null;
  observed_at: string;
  lag: number | null;
}

export interface PartitionCommits {
  topic: string;
  partition: number;
  status: PartitionStatus;
  window: WindowEntry[];
}

export interface WindowList {
  matching: number;
  window_size: number;
  windows: PartitionCommits[];
}

export interface Trail {
  times: string[];
  total_lag: (number | null)[];
  lag_seconds: (number | null)[];
}

/** How a group moved through a partition. */
export interface OffsetsCourse {
  times: string[];
  committed_offset: (number | null)[];
  end_offset: (number | null)[];
}

export interface HistoryState {
  is_kept: boolean;
}

export interface TopicList {
  matching: number;
  topics: { topic: string; partition_count: number; group_count: number }[];
}

export interface Topic {
  cluster: string;
  topic: string;
  topic_id: string | null;
  partitions: {
    partition: number;
    end_offset: number | null;
    log_start: number | null;
    last_stable_offset: number | null;
    has_leader: boolean;
    open_transaction_since: string | null;
    produced_per_second: number | null;
  }[];
  readers: {
    group: string;
    status: PartitionStatus;
    partition_count: number;
    total_lag: number;
    lag_seconds: number | null;
  }[];
}

export interface ChangeList {
  changes: { at: string; group: string; was: AnyStatus; now: AnyStatus; cause: Cause | null }[];
}

export interface Incident {
  id: string;
  cluster: string;
  group: string;
  state: "open" | "closed";
  opened_at: string;
  closed_at: string | null;
  status: AnyStatus;
  worst: GroupStatus;
  steps: {
    at: string;
    turn: "opened" | "worsened" | "improved" | "closed";
    status: AnyStatus;
    total_lag: number;
    cause: { topic: string; partition: number; rule: string; reason: string; lag: number } | null;
  }[];
}

export interface IncidentList {
  incidents: Incident[];
  next: string | null;
}

export interface Silence {
  id: string;
  state: "active" | "pending" | "ended";
  cluster: string;
  group: string;
  topic: string;
  from: string;
  until: string;
  by: string;
  comment: string;
}

/** What became of a message that says it is a test. */
export interface Trial {
  notifier: string;
  result: "delivered" | "retry" | "permanent";
  reason: string | null;
}

export interface NotifierList {
  leader: boolean;
  leader_state: string;
  notifiers: {
    name: string;
    class: string;
    waiting: number;
    oldest_waiting_since: string | null;
    sent: number;
    retried: number;
    failed: number;
    last_sent_at: string | null;
    last_failed_at: string | null;
    last_error: string | null;
  }[];
}

export interface SinkList {
  sinks: {
    name: string;
    class: string;
    failing: boolean;
    sent: number;
    refused: number;
    dropped: number;
    failed_attempts: number;
    waiting: number;
    waiting_bytes: number;
    oldest_waiting_at: string | null;
    last_sent_at: string | null;
    last_failed_at: string | null;
    last_error: string | null;
  }[];
}

export interface HistoryHealth {
  is_kept: boolean;
  path: string | null;
  commits: number;
  files: number;
  waiting_bytes: number;
  last_written_at: string | null;
  last_error: string | null;
  lost_seconds: number;
}

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export interface ConfigAnswer {
  sections: { section: string; keys: { key: string; value: Json }[] }[];
}

export interface About {
  version: string;
  started_at: string;
  python: string;
  packages: Record<string, string>;
  positions: { consumer: string; cluster: string; positions: { partition: number; position: number }[] }[];
}
