/** Silences: asked for in a dialog, listed, and ended. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { apiPath, ask } from "../api";
import { exactly } from "../lag";
import { useLive } from "../live";
import { useSending } from "../sending";
import { useWords } from "../settings";
import type { Group, Silence } from "../types";
import { Refusal, Whole } from "../ui/states";
import { Moment, Panel } from "../ui/words";

/** Whether a silence is about a group, as far as the browser can read its patterns. */
export function isAbout(silence: Silence, group: Pick<Group, "cluster" | "group" | "topics">): boolean {
  try {
    return (
      new RegExp(silence.cluster).test(group.cluster) &&
      new RegExp(silence.group).test(group.group) &&
      (silence.topic === "" || group.topics.some((one) => new RegExp(silence.topic).test(one)))
    );
  } catch {
    return false;
  }
}

export function SilenceDialog({
  cluster,
  group,
  onClose,
}: {
  cluster: string;
  group: string;
  onClose: () => void;
}): JSX.Element {
  const words = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  const [seconds, setSeconds] = useState("3600");
  const [comment, setComment] = useState("");
  const [by, setBy] = useState("");
  const [set, setSet] = useState<Silence | null>(null);
  const { isBusy, error, send } = useSending();
  useEffect(() => dialog.current?.showModal(), []);
  const silence = (event: Event) => {
    event.preventDefault();
    const body = { cluster: exactly(cluster), group: exactly(group), duration_s: Number(seconds), by, comment };
    void send(async () => setSet(await ask<Silence>("silences", { method: "POST", body })));
  };
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="silence-title">
      <h2 id="silence-title">{words.silence.title(group)}</h2>
      {set !== null ? (
        <>
          <p role="status">{words.silence.done(new Date(set.until).toLocaleString(words.locale))}</p>
          <div class="buttons">
            <button type="button" onClick={() => dialog.current?.close()}>
              {words.close}
            </button>
          </div>
        </>
      ) : (
        <>
          <p>{words.silence.text}</p>
          {error !== null && <Refusal error={error} />}
          <form onSubmit={silence} class="form">
            <label>
              <span>{words.silence.duration}</span>
              <select value={seconds} onChange={(event) => setSeconds(event.currentTarget.value)}>
                {Object.entries(words.silence.durations).map(([value, text]) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
              </select>
            </label>
            <label>
              <span>{words.silence.comment}</span>
              <input value={comment} maxLength={4000} onInput={(event) => setComment(event.currentTarget.value)} />
            </label>
            <label>
              <span>{words.silence.by}</span>
              <input value={by} maxLength={1000} onInput={(event) => setBy(event.currentTarget.value)} />
            </label>
            <div class="buttons">
              <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
                {words.cancel}
              </button>
              <button type="submit" disabled={isBusy}>
                {words.silence.set}
              </button>
            </div>
          </form>
        </>
      )}
    </dialog>
  );
}

export function Silences(): JSX.Element {
  const words = useWords();
  const live = useLive<{ silences: Silence[] }>("silences", 5_000);
  const { isBusy, error, send } = useSending();
  const remove = async (id: string) => {
    await ask(apiPath("silences", id), { method: "DELETE" });
    live.again();
  };
  return (
    <Panel title={words.silence.list}>
      {error !== null && <Refusal error={error} />}
      <Whole live={live}>
        {({ silences }) =>
          silences.length === 0 ? (
            <p class="muted after">{words.silence.none}</p>
          ) : (
            <Table silences={silences} isBusy={isBusy} onRemove={(id) => void send(() => remove(id))} />
          )
        }
      </Whole>
    </Panel>
  );
}

interface TableProps {
  silences: Silence[];
  isBusy: boolean;
  onRemove: (id: string) => void;
}

function Table({ silences, isBusy, onRemove }: TableProps): JSX.Element {
  const words = useWords();
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={words.silence.list}>
      <table>
        <thead>
          <tr>
            <th scope="col">{words.groupView.columns.status}</th>
            <th scope="col">{words.silence.about}</th>
            <th scope="col">{words.silence.until}</th>
            <th scope="col">{words.silence.comment}</th>
            <th scope="col">
              <span class="visually-hidden">{words.silence.remove}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {silences.map((one) => (
            <tr key={one.id}>
              <td>{words.silence.state[one.state]}</td>
              <td class="mono">{[one.cluster, one.group, one.topic].filter(Boolean).join(" · ")}</td>
              <td>
                <Moment time={one.until} />
              </td>
              <td>
                {one.comment} <small class="muted">{one.by}</small>
              </td>
              <td class="end">
                {one.state !== "ended" && (
                  <button type="button" class="quiet" disabled={isBusy} onClick={() => onRemove(one.id)}>
                    {words.silence.remove}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
