/** One topic: how fast it grows, where its partitions begin and end, and how the groups that read it do. */

import type { JSX } from "preact";
import { apiPath } from "../api";
import { rate, records } from "../format";
import { readersByBadness, sumOfKnown } from "../lag";
import { useLive } from "../live";
import { Link } from "../navigation";
import { useWords } from "../settings";
import type { Topic } from "../types";
import { Rows } from "../ui/rows";
import { Whole } from "../ui/states";
import { Status } from "../ui/status";
import { Age, Fact, Panel, Records, Seconds } from "../ui/words";

export function TopicView({ cluster, topic }: { cluster: string; topic: string }): JSX.Element {
  const live = useLive<Topic>(apiPath("clusters", cluster, "topics", topic));
  return (
    <>
      {live.data === null && <h1 class="visually-hidden">{topic}</h1>}
      <Whole live={live}>{(found) => <Found one={found} />}</Whole>
    </>
  );
}

function Found({ one }: { one: Topic }): JSX.Element {
  const words = useWords();
  const produced = sumOfKnown(one.partitions.map((each) => each.produced_per_second));
  const kept = sumOfKnown(
    one.partitions.map(({ end_offset: end, log_start: start }) =>
      end === null || start === null ? null : Math.max(0, end - start),
    ),
  );
  return (
    <div class="page">
      <header class="verdict none">
        <nav class="crumbs" aria-label={words.cluster}>
          <Link to={{ view: "topics", cluster: one.cluster }}>{one.cluster}</Link> <span aria-hidden="true">/</span>
        </nav>
        <div class="headline">
          <h1>{one.topic}</h1>
        </div>
        <dl class="facts">
          <Fact label={words.topics.producedAll}>{rate(produced, words.locale, words.units)}</Fact>
          <Fact label={words.topics.partitions}>{records(one.partitions.length, words.locale)}</Fact>
          <Fact label={words.topics.kept}>{records(kept, words.locale)}</Fact>
          <Fact label={words.topics.groups}>{records(one.readers.length, words.locale)}</Fact>
          {one.topic_id !== null && (
            <Fact label={words.topics.id}>
              <span class="mono small">{one.topic_id}</span>
            </Fact>
          )}
        </dl>
      </header>
      <Readers one={one} />
      <Panel title={words.topics.partitions}>
        <TopicPartitions one={one} />
      </Panel>
    </div>
  );
}

function Readers({ one }: { one: Topic }): JSX.Element {
  const words = useWords();
  return (
    <Panel title={words.topics.readers}>
      {one.readers.length === 0 ? (
        <p class="muted after">{words.topics.noReaders}</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label={words.topics.readers}>
          <table>
            <thead>
              <tr>
                <th scope="col">{words.groups.columns.status}</th>
                <th scope="col">{words.group}</th>
                <th scope="col" class="end">
                  {words.groups.columns.lag}
                </th>
                <th scope="col" class="end">
                  {words.groups.columns.seconds}
                </th>
                <th scope="col" class="end">
                  {words.topics.partitions}
                </th>
              </tr>
            </thead>
            <tbody>
              {[...one.readers].sort(readersByBadness).map((reader) => (
                <tr key={reader.group}>
                  <td>
                    <Status status={reader.status} />
                  </td>
                  <td>
                    <Link to={{ view: "group", cluster: one.cluster, group: reader.group }}>{reader.group}</Link>
                  </td>
                  <td class="end">
                    <Records value={reader.total_lag} />
                  </td>
                  <td class="end">
                    <Seconds value={reader.lag_seconds} />
                  </td>
                  <td class="end">
                    <Records value={reader.partition_count} />
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

function TopicPartitions({ one }: { one: Topic }): JSX.Element {
  const words = useWords();
  return (
    <Rows
      id="topic-partition"
      label={words.topics.partitions}
      columns={[
        { key: "partition", title: words.about.partition, width: "minmax(80px, 1fr)", narrow: "minmax(0, 1fr)" },
        {
          key: "produced",
          title: words.topics.produced,
          width: "minmax(80px, 1fr)",
          narrow: "minmax(0, 1fr)",
          end: true,
        },
        { key: "start", title: words.topics.start, width: "minmax(90px, 1fr)", narrow: "minmax(0, 1fr)", end: true },
        { key: "end", title: words.topics.end, width: "minmax(90px, 1fr)", narrow: "minmax(0, 1fr)", end: true },
        { key: "leader", title: words.topics.leader, width: "minmax(90px, 1fr)", hide: "mid" },
        { key: "transaction", title: words.topics.transaction, width: "minmax(120px, 1fr)", end: true, hide: "mid" },
      ]}
      count={one.partitions.length}
      keys={one.partitions.map((each) => String(each.partition))}
      rowHeight={34}
      maxHeight={480}
      cells={(index) => {
        const found = one.partitions[index];
        if (found === undefined) return null;
        return [
          <span class="number">{found.partition}</span>,
          <span class="number">{rate(found.produced_per_second, words.locale, words.units)}</span>,
          <Records value={found.log_start} />,
          <Records value={found.end_offset} />,
          found.has_leader ? (
            <span class="muted">{words.topics.hasLeader}</span>
          ) : (
            <b class="err-text">{words.topics.noLeader}</b>
          ),
          <Age time={found.open_transaction_since} />,
        ];
      }}
    />
  );
}
