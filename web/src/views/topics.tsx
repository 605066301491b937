/** The topics of a cluster, and how many groups read each. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { apiPath } from "../api";
import { records } from "../format";
import { useLive } from "../live";
import { go, keep, Link, usePlace } from "../navigation";
import { useWords } from "../settings";
import type { TopicList } from "../types";
import { ClusterChoice, Typed } from "../ui/fields";
import { Rows } from "../ui/rows";
import { Message, Whole } from "../ui/states";
import { Records } from "../ui/words";
import { isSameList, offsetIn } from "../urls";
import { pageAfter, pageFor, type Page } from "../virtual";

const ROW_PX = 36;

export function TopicsView({ cluster, clusters }: { cluster: string; clusters: string[] }): JSX.Element {
  const words = useWords();
  const { query } = usePlace();
  const name = query.get("name") ?? "";
  const [page, setPage] = useState<Page>(pageFor({ first: 0, end: 40 }));
  const asked = new URLSearchParams({ name, limit: String(page.limit), offset: String(page.offset) });
  const path = `${apiPath("clusters", cluster, "topics")}?${asked}`;
  const live = useLive<TopicList>(path, 5_000);
  const offset = offsetIn(live.path);
  const isOld = !isSameList(live.path, path);
  return (
    <div class="page full">
      <header class="title">
        <h1>{words.topics.title}</h1>
        <ClusterChoice
          cluster={cluster}
          clusters={clusters}
          onChoose={(other) => go({ view: "topics", cluster: other })}
        />
        <span class="muted" role="status">
          {live.data !== null && words.topicsCount(live.data.matching)}
        </span>
      </header>
      <div class="filters" role="search">
        <Typed
          label={words.topics.search}
          value={name}
          onType={(text) => keep(new URLSearchParams(text ? { name: text } : {}))}
          isSearch
        />
      </div>
      <Whole live={live}>
        {(list) =>
          list.matching === 0 ? (
            <Message title={words.topics.none} isOld={isOld} />
          ) : (
            <Rows
              id="topic"
              label={words.topics.title}
              columns={[
                { key: "topic", title: words.topic, width: "minmax(160px, 1fr)", narrow: "minmax(0, 1fr)" },
                { key: "partitions", title: words.topics.partitions, width: "112px", narrow: "72px", end: true },
                { key: "groups", title: words.topics.groups, width: "96px", narrow: "60px", end: true },
              ]}
              count={list.matching}
              keys={list.topics.map((one) => one.topic)}
              offset={offset}
              isOld={isOld}
              rowHeight={ROW_PX}
              onRange={(range) => setPage((before) => pageAfter(before, range))}
              cells={(index) => {
                const one = list.topics[index - offset];
                if (one === undefined) return null;
                return [
                  <Link to={{ view: "topic", cluster, topic: one.topic }} tabIndex={-1} class="name">
                    {one.topic}
                  </Link>,
                  <Records value={one.partition_count} />,
                  one.group_count === 0 ? (
                    <span class="muted">0</span>
                  ) : (
                    <span class="number">{records(one.group_count, words.locale)}</span>
                  ),
                ];
              }}
              onOpen={(index) => {
                const one = list.topics[index - offset];
                if (one !== undefined) go({ view: "topic", cluster, topic: one.topic });
              }}
            />
          )
        }
      </Whole>
    </div>
  );
}
