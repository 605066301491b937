/** How the notifiers are doing, and what is silenced. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiError, apiPath, ask } from "../api";
import { useLive } from "../live";
import { useWords } from "../settings";
import type { NotifierList, Trial } from "../types";
import { Message, Refusal, Whole } from "../ui/states";
import { Age, Panel, Records } from "../ui/words";
import { Silences } from "./silences";

export function NotifiersView(): JSX.Element {
  const words = useWords();
  const live = useLive<NotifierList>("notifiers");
  return (
    <div class="page">
      <header class="title">
        <h1>{words.notifiers.title}</h1>
        {live.data !== null && (
          <span class="muted">
            {live.data.leader ? words.notifiers.leader : words.notifiers.notLeader} (
            {words.reason(live.data.leader_state)})
          </span>
        )}
      </header>
      <Whole live={live}>
        {({ notifiers }) =>
          notifiers.length === 0 ? (
            <Message title={words.notifiers.none}>
              <p>{words.notifiers.noneText}</p>
            </Message>
          ) : (
            <Panel title={words.notifiers.title}>
              <Table notifiers={notifiers} />
            </Panel>
          )
        }
      </Whole>
      <Silences />
    </div>
  );
}

function Table({ notifiers }: Pick<NotifierList, "notifiers">): JSX.Element {
  const [trial, setTrial] = useState<Trial | ApiError | string | null>(null);
  const tryOut = async (name: string) => {
    setTrial(name);
    try {
      setTrial(await ask<Trial>(apiPath("notifiers", name, "test"), { method: "POST" }));
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      setTrial(problem);
    }
  };
  return (
    <>
      <TrialResult trial={trial} />
      <Rows notifiers={notifiers} busy={typeof trial === "string" ? trial : ""} onTry={(name) => void tryOut(name)} />
    </>
  );
}

/** What became of a test message; a name alone is one that is on its way. */
function TrialResult({ trial }: { trial: Trial | ApiError | string | null }): JSX.Element | null {
  const words = useWords();
  if (trial === null || typeof trial === "string") return null;
  if (trial instanceof ApiError) return <Refusal error={trial} />;
  if (trial.result === "delivered") return <p role="status">{words.notifiers.tested(trial.notifier)}</p>;
  return (
    <div class="refusal" role="alert">
      <b>{words.notifiers.testFailed(trial.notifier)}</b> {trial.reason}
    </div>
  );
}

interface RowsProps extends Pick<NotifierList, "notifiers"> {
  busy: string;
  onTry: (name: string) => void;
}

function Rows({ notifiers, busy, onTry }: RowsProps): JSX.Element {
  const words = useWords();
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={words.notifiers.title}>
      <table>
        <thead>
          <tr>
            <th scope="col">{words.notifiers.name}</th>
            <th scope="col">{words.notifiers.class}</th>
            {(["waiting", "sent", "retried", "failed", "lastSent", "lastFailed"] as const).map((one) => (
              <th key={one} scope="col" class="end">
                {words.notifiers[one]}
              </th>
            ))}
            <th scope="col">{words.about.lastError}</th>
            <th scope="col">
              <span class="visually-hidden">{words.notifiers.test}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {notifiers.map((one) => (
            <tr key={one.name}>
              <td>
                <b>{one.name}</b>
              </td>
              <td>{one.class}</td>
              <td class={`end ${one.waiting > 0 ? "warn-text" : ""}`}>
                <Records value={one.waiting} />
              </td>
              <td class="end">
                <Records value={one.sent} />
              </td>
              <td class="end">
                <Records value={one.retried} />
              </td>
              <td class={`end ${one.failed > 0 ? "err-text" : ""}`}>
                <Records value={one.failed} />
              </td>
              <td class="end">
                {one.last_sent_at === null ? (
                  <span class="muted">{words.notifiers.never}</span>
                ) : (
                  <Age time={one.last_sent_at} ago />
                )}
              </td>
              <td class="end">
                {one.last_failed_at === null ? (
                  <span class="muted">{words.notifiers.never}</span>
                ) : (
                  <Age time={one.last_failed_at} ago />
                )}
              </td>
              <td class="why">{one.last_error}</td>
              <td class="end">
                <button type="button" class="quiet" disabled={busy === one.name} onClick={() => onTry(one.name)}>
                  {words.notifiers.test}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
