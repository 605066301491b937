/** What is running, how its pipeline is doing, how far it has read, and what it could not read. */

import type { JSX } from "preact";
import { BASE } from "../api";
import { useLive } from "../live";
import { useWords } from "../settings";
import type { About, ClusterList, Query } from "../types";
import { Whole } from "../ui/states";
import { Fact, Moment, Panel, Records } from "../ui/words";
import { History, Sinks } from "./outlets";

export function AboutView(): JSX.Element {
  const words = useWords();
  const about = useLive<About>("about", 5_000);
  const pipeline = useLive<{ queries: Query[] }>("pipeline");
  const clusters = useLive<ClusterList>("clusters");
  return (
    <div class="page">
      <header class="title">
        <h1>{words.about.title}</h1>
        <a href={new URL("openapi.json", BASE).href}>{words.about.api}</a>
      </header>
      <Whole live={about}>
        {(one) => (
          <>
            <section class="panel">
              <dl class="facts">
                <Fact label={words.about.version}>Warren {one.version}</Fact>
                <Fact label={words.about.started}>
                  <Moment time={one.started_at} />
                </Fact>
                <Fact label="Python">{one.python}</Fact>
                {Object.entries(one.packages).map(([name, version]) => (
                  <Fact key={name} label={name}>
                    {version}
                  </Fact>
                ))}
              </dl>
            </section>
            <Panel title={words.about.pipeline}>
              <Whole live={pipeline}>{({ queries }) => <Queries queries={queries} />}</Whole>
            </Panel>
            <Sinks />
            <History />
            <Positions positions={one.positions} />
          </>
        )}
      </Whole>
      <Whole live={clusters}>{(found) => <Undecodable clusters={found} />}</Whole>
    </div>
  );
}

function Queries({ queries }: { queries: Query[] }): JSX.Element {
  const words = useWords();
  if (queries.length === 0) return <p class="muted after">{words.state.starting}</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={words.about.pipeline}>
      <table>
        <thead>
          <tr>
            <th scope="col">{words.about.query}</th>
            <th scope="col">{words.about.queryState}</th>
            <th scope="col" class="end">
              {words.about.restarts}
            </th>
            <th scope="col">{words.about.lastError}</th>
          </tr>
        </thead>
        <tbody>
          {queries.map((one) => (
            <tr key={one.name}>
              <td class="mono">{one.name}</td>
              <td class={one.state === "running" ? "" : "warn-text"}>{words.about.queryStates[one.state]}</td>
              <td class="end">
                <Records value={one.restarts} />
              </td>
              <td class="why">{one.last_error ?? "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Positions({ positions }: Pick<About, "positions">): JSX.Element {
  const words = useWords();
  return (
    <Panel title={words.about.positions}>
      {positions.map((one) => (
        <div key={`${one.cluster} ${one.consumer}`} class="positions">
          <h3>
            {one.consumer} <small class="muted">{one.cluster}</small>
          </h3>
          <ul>
            {one.positions.map((at) => (
              <li key={at.partition}>
                <span class="muted">{at.partition}</span> <Records value={at.position} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </Panel>
  );
}

function Undecodable({ clusters }: { clusters: ClusterList }): JSX.Element {
  const words = useWords();
  const kinds = clusters.clusters.flatMap((one) =>
    Object.entries(one.undecodable_records).map(([kind, records]) => ({ cluster: one.name, kind, records })),
  );
  return (
    <Panel title={words.about.errors}>
      {kinds.length === 0 ? (
        <p class="muted after">{words.about.noErrors}</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">{words.cluster}</th>
              <th scope="col">{words.about.kind}</th>
              <th scope="col" class="end">
                {words.about.records}
              </th>
            </tr>
          </thead>
          <tbody>
            {kinds.map((one) => (
              <tr key={`${one.cluster} ${one.kind}`}>
                <td>{one.cluster}</td>
                <td>{one.kind}</td>
                <td class="end">
                  <Records value={one.records} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
