/** Incidents of all clusters, the newest first, each with its course. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { duration, secondsSince } from "../format";
import { useLive, useNow } from "../live";
import { keep, Link, usePlace } from "../navigation";
import { useWords } from "../settings";
import type { GroupStatus, Incident, IncidentList } from "../types";
import { Message, Whole } from "../ui/states";
import { Status, toneOf } from "../ui/status";
import { Moment } from "../ui/words";

const STEP = 50;

export function IncidentsView(): JSX.Element {
  const words = useWords();
  const { query } = usePlace();
  const state = ["open", "closed"].find((one) => one === query.get("state")) ?? "";
  const [limit, setLimit] = useState(STEP);
  const asked = new URLSearchParams({ limit: String(limit), ...(state ? { state } : {}) });
  const live = useLive<IncidentList>(`incidents?${asked}`);
  const filters = [
    ["", words.all],
    ["open", words.incidents.open],
    ["closed", words.incidents.closed],
  ] as const;
  return (
    <div class="page">
      <header class="title">
        <h1>{words.incidents.title}</h1>
        <fieldset class="chips">
          <legend class="visually-hidden">{words.incidents.title}</legend>
          {filters.map(([value, text]) => (
            <button
              key={value}
              type="button"
              class="chip"
              aria-pressed={state === value}
              onClick={() => keep(new URLSearchParams(value ? { state: value } : {}))}
            >
              {text}
            </button>
          ))}
        </fieldset>
      </header>
      <Whole live={live}>
        {({ incidents, next }) =>
          incidents.length === 0 ? (
            <Message title={words.incidents.none} isOld={live.isOld}>
              <p>{words.incidents.noneText}</p>
            </Message>
          ) : (
            <section class="panel" aria-busy={live.isOld}>
              <IncidentItems incidents={incidents} named />
              {next !== null && limit < 1000 && (
                <p class="after">
                  <button type="button" class="quiet" onClick={() => setLimit(Math.min(1000, limit + STEP))}>
                    {words.more}
                  </button>
                </p>
              )}
            </section>
          )
        }
      </Whole>
    </div>
  );
}

export function IncidentItems({ incidents, named }: { incidents: Incident[]; named: boolean }): JSX.Element {
  const nowMs = useNow();
  const fromMs = Math.min(...incidents.map((one) => Date.parse(one.opened_at)));
  return (
    <ol class="timeline">
      {incidents.map((one) => (
        <Item key={one.id} one={one} named={named} fromMs={fromMs} nowMs={nowMs} />
      ))}
    </ol>
  );
}

interface ItemProps {
  one: Incident;
  named: boolean;
  /** When the oldest incident of the list began. */
  fromMs: number;
  nowMs: number;
}

function Item({ one, named, fromMs, nowMs }: ItemProps): JSX.Element {
  const words = useWords();
  const toMs = one.closed_at === null ? nowMs : Date.parse(one.closed_at);
  const age = duration(Math.round(secondsSince(one.opened_at, toMs) ?? 0), words.units);
  const cause = one.steps.findLast((step) => step.cause !== null && step.turn !== "closed")?.cause;
  return (
    <li class={one.state}>
      <details>
        <summary>
          <Status status={one.state === "open" ? one.status : one.worst} />
          <span class="who">
            {named && (
              <b>
                {one.group} <small class="muted">{one.cluster}</small>
              </b>
            )}
            <span class="why">{cause == null ? "" : `${cause.topic} ${cause.partition}: ${words.reason(cause.reason)}`}</span>
          </span>
          <Span
            fromMs={Date.parse(one.opened_at) - fromMs}
            toMs={toMs - fromMs}
            allMs={nowMs - fromMs}
            status={one.worst}
          />
          <span class="when">
            <Moment time={one.opened_at} />
            <small class="muted">
              {one.closed_at === null ? words.incidents.lasts(age) : words.incidents.lasted(age)}
            </small>
          </span>
        </summary>
        <ol class="steps" aria-label={words.incidents.steps}>
          {one.steps.map((step, i) => (
            <li key={i}>
              <Moment time={step.at} /> <Status status={step.status} /> {words.incidents.turns[step.turn]}
              <span class="why">
                {step.cause === null ? "" : ` ${step.cause.topic} ${step.cause.partition}: ${words.reason(step.cause.reason)}`}
              </span>
            </li>
          ))}
        </ol>
        {named && (
          <p class="after">
            <Link to={{ view: "group", cluster: one.cluster, group: one.group }}>{one.group}</Link>
          </p>
        )}
      </details>
    </li>
  );
}

/** When it was, between the beginning of the oldest one and now. */
function Span({
  fromMs,
  toMs,
  allMs,
  status,
}: {
  fromMs: number;
  toMs: number;
  allMs: number;
  status: GroupStatus;
}): JSX.Element {
  const share = (ms: number) => `${Math.min(100, Math.max(0, (ms / Math.max(allMs, 1)) * 100))}%`;
  return (
    <span class={`span ${toneOf(status)}`} aria-hidden="true">
      <i style={{ insetInlineStart: share(fromMs), width: share(toMs - fromMs) }} />
    </span>
  );
}
