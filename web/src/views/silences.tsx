/** Silences: asked for in a dialog, listed, and ended. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { apiPath, ApiError, ask } from "../api";
import { exactly } from "../lag";
import { useLive } from "../live";
import { useWords } from "../settings";
import type { Group, Silence } from "../types";
import { TokenForm, Whole } from "../ui/states";
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
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const send = async (event: Event) => {
    event.preventDefault();
    try {
      const body = { cluster: exactly(cluster), group: exactly(group), duration_s: Number(seconds), by, comment };
      setSet(await ask<Silence>("silences", { method: "POST", body }));
      setError(null);
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      setError(problem);
    }
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
          {error !== null && (
            <div class="refusal" role="alert">
              <b>{error.status === 0 ? words.state.away : error.message}</b> {error.hint}
            </div>
          )}
          {(error?.status === 401 || error?.status === 403) && (
            <>
              <p>{words.silence.needsToken}</p>
              <TokenForm />
            </>
          )}
          <form onSubmit={(event) => void send(event)} class="form">
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
              <button type="submit">{words.silence.set}</button>
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
  const [error, setError] = useState<ApiError | null>(null);
  const remove = async (id: string) => {
    try {
      await ask(apiPath("silences", id), { method: "DELETE" });
      setError(null);
      live.again();
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      setError(problem);
    }
  };
  return (
    <Panel title={words.silence.list}>
      {error !== null && (
        <div class="refusal" role="alert">
          <b>{error.message}</b> {error.hint}
          {(error.status === 401 || error.status === 403) && <TokenForm />}
        </div>
      )}
      <Whole live={live}>
        {({ silences }) =>
          silences.length === 0 ? (
            <p class="muted after">{words.silence.none}</p>
          ) : (
            <Table silences={silences} onRemove={(id) => void remove(id)} />
          )
        }
      </Whole>
    </Panel>
  );
}

function Table({ silences, onRemove }: { silences: Silence[]; onRemove: (id: string) => void }): JSX.Element {
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
                  <button type="button" class="quiet" onClick={() => onRemove(one.id)}>
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
