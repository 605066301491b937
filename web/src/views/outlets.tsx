/** Where what Warren knows is written to: the sinks and the history. */

import type { JSX } from "preact";
import { useLive } from "../live";
import { useWords } from "../settings";
import type { HistoryHealth, SinkList } from "../types";
import { Whole } from "../ui/states";
import { Age, Fact, Panel, Records } from "../ui/words";

export function Sinks(): JSX.Element {
  const live = useLive<SinkList>("sinks", 5_000);
  const words = useWords();
  return (
    <Panel title={words.outlets.sinks}>
      <Whole live={live}>
        {({ sinks }) =>
          sinks.length === 0 ? <p class="muted after">{words.outlets.noSinks}</p> : <Rows sinks={sinks} />
        }
      </Whole>
    </Panel>
  );
}

function Rows({ sinks }: SinkList): JSX.Element {
  const words = useWords();
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={words.outlets.sinks}>
      <table>
        <thead>
          <tr>
            <th scope="col">{words.notifiers.name}</th>
            <th scope="col">{words.notifiers.class}</th>
            <th scope="col">{words.about.queryState}</th>
            {(["sent", "waiting", "refused", "dropped", "lastSent"] as const).map((one) => (
              <th key={one} scope="col" class="end">
                {words.outlets[one]}
              </th>
            ))}
            <th scope="col">{words.about.lastError}</th>
          </tr>
        </thead>
        <tbody>
          {sinks.map((one) => (
            <tr key={one.name}>
              <td>
                <b>{one.name}</b>
              </td>
              <td>{one.class}</td>
              <td class={one.failing ? "err-text" : ""}>
                {one.failing ? words.outlets.failing : words.outlets.writing}
              </td>
              <td class="end">
                <Records value={one.sent} />
              </td>
              <td class={`end ${one.failing && one.waiting > 0 ? "warn-text" : ""}`}>
                <Records value={one.waiting} />
              </td>
              <Lost points={one.refused} />
              <Lost points={one.dropped} />
              <td class="end">
                {one.last_sent_at === null ? (
                  <span class="muted">{words.notifiers.never}</span>
                ) : (
                  <Age time={one.last_sent_at} ago />
                )}
              </td>
              <td class="why">{one.last_error ?? "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Lost({ points }: { points: number }): JSX.Element {
  return (
    <td class={`end ${points > 0 ? "err-text" : ""}`}>
      <Records value={points} />
    </td>
  );
}

export function History(): JSX.Element {
  const live = useLive<HistoryHealth>("history", 5_000);
  const words = useWords();
  return (
    <Panel title={words.outlets.history}>
      <Whole live={live}>
        {(one) => (one.is_kept ? <Kept history={one} /> : <p class="muted after">{words.outlets.noHistory}</p>)}
      </Whole>
    </Panel>
  );
}

function Kept({ history }: { history: HistoryHealth }): JSX.Element {
  const words = useWords();
  return (
    <>
      {history.last_error !== null && (
        <p class="refusal" role="alert">
          {history.last_error}
        </p>
      )}
      <dl class="facts">
        <Fact label={words.outlets.path}>
          <span class="mono">{history.path}</span>
        </Fact>
        <Fact label={words.outlets.lastWritten}>
          {history.last_written_at === null ? words.notifiers.never : <Age time={history.last_written_at} ago />}
        </Fact>
        <Fact label={words.outlets.commits}>
          <Records value={history.commits} />
        </Fact>
        <Fact label={words.outlets.files}>
          <Records value={history.files} />
        </Fact>
        <Fact label={words.outlets.waitingBytes}>
          <Records value={history.waiting_bytes} />
        </Fact>
        {history.lost_seconds > 0 && (
          <Fact label={words.outlets.lostSeconds}>
            <span class="err-text">
              <Records value={history.lost_seconds} />
            </span>
          </Fact>
        )}
      </dl>
    </>
  );
}
