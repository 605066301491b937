/** The frame around all views: where one can go, whether what is shown is fresh, theme and language. */

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { connection, token } from "./api";
import { duration } from "./format";
import { useLive, useNow } from "./live";
import { Link, usePlace } from "./navigation";
import { language, theme, useWords, type Language, type Theme } from "./settings";
import { useStore } from "./store";
import type { ClusterList } from "./types";
import type { View } from "./urls";
import { Banner, Message } from "./ui/states";
import { AboutView } from "./views/about";
import { ConfigView } from "./views/config";
import { GroupView } from "./views/group";
import { GroupsView } from "./views/groups";
import { IncidentsView } from "./views/incidents";
import { NotifiersView } from "./views/notifiers";
import { Overview } from "./views/overview";
import { TopicView } from "./views/topic";
import { TopicsView } from "./views/topics";

const SLOWLY_MS = 15_000;

export function App(): JSX.Element {
  const { view } = usePlace();
  const words = useWords();
  // The overview asks for the clusters itself, and more often.
  const clusters = useLive<ClusterList>("clusters", SLOWLY_MS);
  const names = clusters.data?.clusters.map((one) => one.name) ?? [];
  useTitle(view);
  return (
    <>
      <a class="skip" href="#content">
        {words.nav.skip}
      </a>
      <header class="bar">
        <Link to={{ view: "overview" }} class="brand">
          <Rabbit />
          Warren
        </Link>
        <Views view={view} clusters={names} />
        <Freshness />
        <Switches />
      </header>
      <Banner />
      <main id="content" tabIndex={-1}>
        <Shown view={view} clusters={names} />
      </main>
    </>
  );
}

function Shown({ view, clusters }: { view: View; clusters: string[] }): JSX.Element {
  const words = useWords();
  switch (view.view) {
    case "overview":
      return <Overview />;
    case "groups":
      return <GroupsView key={view.cluster} cluster={view.cluster} clusters={clusters} />;
    case "group":
      return <GroupView key={`${view.cluster}\n${view.group}`} cluster={view.cluster} group={view.group} />;
    case "topics":
      return <TopicsView key={view.cluster} cluster={view.cluster} clusters={clusters} />;
    case "topic":
      return <TopicView key={`${view.cluster}\n${view.topic}`} cluster={view.cluster} topic={view.topic} />;
    case "incidents":
      return <IncidentsView />;
    case "notifiers":
      return <NotifiersView />;
    case "config":
      return <ConfigView />;
    case "about":
      return <AboutView />;
    case "nothing":
      return (
        <>
          <h1 class="visually-hidden">Warren</h1>
          <Message title={words.state.notFound}>
            <p>{words.state.notFoundText}</p>
            <Link to={{ view: "overview" }}>{words.state.toOverview}</Link>
          </Message>
        </>
      );
  }
}

function Views({ view, clusters }: { view: View; clusters: string[] }): JSX.Element {
  const words = useWords();
  const cluster = "cluster" in view ? view.cluster : clusters[0];
  const here = view.view;
  const single = ["incidents", "notifiers", "config", "about"] as const;
  return (
    <nav aria-label={words.nav.label}>
      <Link to={{ view: "overview" }} current={here === "overview"}>
        {words.nav.overview}
      </Link>
      {cluster !== undefined && (
        <>
          <Link to={{ view: "groups", cluster }} current={here === "groups" || here === "group"}>
            {words.nav.groups}
          </Link>
          <Link to={{ view: "topics", cluster }} current={here === "topics" || here === "topic"}>
            {words.nav.topics}
          </Link>
        </>
      )}
      {single.map((one) => (
        <Link key={one} to={{ view: one }} current={here === one}>
          {words.nav[one]}
        </Link>
      ))}
    </nav>
  );
}

/** How old what is shown is. */
function Freshness(): JSX.Element {
  const words = useWords();
  const { answeredMs, failure } = useStore(connection);
  const nowMs = useNow();
  const age = Math.max(0, Math.round((nowMs - answeredMs) / 1000));
  const fresh = answeredMs === 0 ? words.live.waiting : words.live.updated(duration(age, words.units));
  const text = failure === null ? fresh : failure.status === 401 ? words.live.token : words.live.away;
  return (
    <span class={`fresh ${failure === null ? "" : "away"}`}>
      <i aria-hidden="true" />
      {text}
    </span>
  );
}

function Switches(): JSX.Element {
  const words = useWords();
  const chosen = useStore(theme);
  const spoken = useStore(language);
  const hasToken = useStore(token) !== "";
  return (
    <div class="switches">
      {hasToken && (
        <button type="button" class="quiet" onClick={() => token.set("")}>
          {words.state.tokenForget}
        </button>
      )}
      <select
        aria-label={words.theme.label}
        value={chosen}
        onChange={(event) => theme.set(event.currentTarget.value as Theme)}
      >
        {(["auto", "light", "dark"] as const).map((one) => (
          <option key={one} value={one}>
            {words.theme[one]}
          </option>
        ))}
      </select>
      <select
        aria-label={words.language}
        value={spoken}
        onChange={(event) => language.set(event.currentTarget.value as Language)}
      >
        <option value="en">English</option>
        <option value="ko">한국어</option>
      </select>
    </div>
  );
}

function Rabbit(): JSX.Element {
  return (
    <svg viewBox="5 3 22 26" width="20" height="24" fill="currentColor" aria-hidden="true">
      <path d="M11 4c2.400 0 3.600 4.200 3.700 8.300h2.600C17.400 8.200 18.600 4 21 4c2.700 0 2.800 5.600.9 9.600 2.300 1.500 3.700 3.800 3.700 6.500 0 4.600-4.200 7.900-9.600 7.900s-9.600-3.300-9.600-7.900c0-2.700 1.400-5 3.700-6.500C8.200 9.600 8.300 4 11 4Z" />
    </svg>
  );
}

function useTitle(view: View): void {
  const words = useWords();
  const { view: kind } = view;
  const what =
    kind === "group" ? view.group : kind === "topic" ? view.topic : kind === "nothing" ? "" : words.nav[kind];
  useEffect(() => {
    document.title = what ? `${what} · Warren` : "Warren";
  }, [what]);
}
