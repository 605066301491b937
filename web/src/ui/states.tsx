/** What is shown instead of content: loading, nothing there, away, refused. */

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiError, connection, token } from "../api";
import type { Live } from "../live";
import { Link } from "../navigation";
import { useWords } from "../settings";
import { useStore } from "../store";

export function Message(props: {
  title: string;
  children?: ComponentChildren;
  tone?: "calm" | "warn" | "err";
  /** It is still about other filters. */
  isOld?: boolean;
}): JSX.Element {
  return (
    <div class={`message ${props.tone ?? "calm"}`} aria-busy={props.isOld}>
      <Burrow />
      <div>
        <h2>{props.title}</h2>
        {props.children}
      </div>
    </div>
  );
}

function Burrow(): JSX.Element {
  return (
    <svg viewBox="0 0 64 64" width="56" height="56" aria-hidden="true">
      <path d="M2 52c8-24 20-34 30-34s22 10 30 34Z" fill="currentColor" opacity=".16" />
      <path d="M22 52a10 11 0 0 1 20 0Z" fill="currentColor" opacity=".5" />
    </svg>
  );
}

export function Loading({ rows = 6 }: { rows?: number | undefined }): JSX.Element {
  const words = useWords();
  return (
    <div class="loading" role="status" aria-label={words.loading}>
      {Array.from({ length: rows }, (_, i) => (
        <div key={i} class="bone" />
      ))}
    </div>
  );
}

interface WholeProps<T> {
  live: Live<T>;
  /** How much is likely to come. */
  rows?: number;
  children: (data: T) => ComponentChildren;
}

/** The content, or why there is none. What was known last stays while Warren is away: the banner tells. */
export function Whole<T>({ live, rows, children }: WholeProps<T>): JSX.Element {
  if (live.data !== null) return <>{children(live.data)}</>;
  return live.error === null ? <Loading rows={rows} /> : <Failure error={live.error} />;
}

/** The same of the history, whose failures no banner tells: all else may be well. */
export function Past<T>({ live, children }: WholeProps<T>): JSX.Element {
  const words = useWords();
  const { data, error } = live;
  return (
    <>
      {error !== null && (
        <p class="refusal" role="status">
          {words.state.noPast} {error.status !== 0 && <small>{words.problem(error.code, error.message)}</small>}
        </p>
      )}
      {data !== null ? children(data) : error === null && <Loading />}
    </>
  );
}

function Failure({ error }: { error: ApiError }): JSX.Element {
  const words = useWords();
  if (error.status === 401) return <AskForToken error={error} />;
  if (error.status === 0)
    return (
      <Message title={words.state.away} tone="err">
        <p>{words.state.awayText}</p>
      </Message>
    );
  const isMissing = error.status === 404;
  return (
    <Message title={isMissing ? words.state.notFound : words.state.failed} tone={isMissing ? "calm" : "err"}>
      <p>{words.problem(error.code, error.message)}</p>
      <p class="muted">{words.hint(error.hint)}</p>
      <p>
        <Link to={{ view: "overview" }}>{words.state.toOverview}</Link>
      </p>
    </Message>
  );
}

function AskForToken({ error }: { error: ApiError }): JSX.Element {
  const words = useWords();
  const sent = useStore(token);
  return (
    <Message title={words.state.token} tone="warn">
      <p>{words.state.tokenText}</p>
      {sent && <p class="err-text">{words.problem(error.code, error.message)}</p>}
      <TokenForm />
    </Message>
  );
}

function TokenForm(): JSX.Element {
  const words = useWords();
  const [text, setText] = useState("");
  const use = (event: Event) => {
    event.preventDefault();
    token.set(text.trim());
  };
  return (
    <form class="token" onSubmit={use}>
      <label>
        <span>{words.state.tokenLabel}</span>
        <input
          type="password"
          autoComplete="off"
          required
          pattern="\s*[\x21-\x7E]+\s*" // what a header can carry
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit">{words.state.tokenUse}</button>
    </form>
  );
}

/** Why a change was refused, and where a token would help the place for one. */
export function Refusal({ error }: { error: ApiError }): JSX.Element {
  const words = useWords();
  return (
    <div class="refusal" role="alert">
      <b>{error.status === 0 ? words.state.away : words.problem(error.code, error.message)}</b> {words.hint(error.hint)}
      {(error.status === 401 || error.status === 403) && (
        <>
          <p>{words.silence.needsToken}</p>
          <TokenForm />
        </>
      )}
    </div>
  );
}

/** Says at the top that Warren is away, over what was known last. */
export function Banner(): JSX.Element | null {
  const words = useWords();
  const { failure, answeredMs } = useStore(connection);
  if (failure === null || failure.status === 401 || answeredMs === 0) return null;
  return (
    <div class="banner" role="alert">
      <strong>{failure.status === 0 ? words.state.away : words.state.failed}.</strong>{" "}
      {failure.status === 0 ? words.state.awayKept : words.problem(failure.code, failure.message)}
    </div>
  );
}
