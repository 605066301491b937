/** How the notifiers are doing, and what is silenced. */

import type { JSX } from "preact";
import { useLive } from "../live";
import { useWords } from "../settings";
import type { NotifierList } from "../types";
import { Message, Whole } from "../ui/states";
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
            {live.data.leader ? words.notifiers.leader : words.notifiers.notLeader} ({live.data.leader_state})
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
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
