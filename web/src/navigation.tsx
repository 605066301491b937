/** Where the page is, and how it goes elsewhere without loading anything again. */

import type { ComponentChildren, JSX } from "preact";
import { createStore, useStore } from "./store";
import { parsePath, pathOf, withQuery, type View } from "./urls";

/** Where the page begins: its scripts lie in `assets/` below, whatever a proxy has put before it. */
export const ROOT = new URL(/* @vite-ignore */ "..", import.meta.url);

interface Place {
  view: View;
  query: URLSearchParams;
}

function here(): Place {
  const path = location.pathname.startsWith(ROOT.pathname) ? location.pathname.slice(ROOT.pathname.length) : "";
  return { view: parsePath(path), query: new URLSearchParams(location.search) };
}

const place = createStore<Place>(here());
addEventListener("popstate", () => place.set(here()));

export function usePlace(): Place {
  return useStore(place);
}

export function href(view: View, query = new URLSearchParams()): string {
  return new URL(withQuery(pathOf(view), query), ROOT).href;
}

export function go(view: View, query = new URLSearchParams()): void {
  history.pushState(null, "", href(view, query));
  place.set(here());
  scrollTo(0, 0);
}

/** Change what the address keeps, without another step for the back button. */
export function keep(query: URLSearchParams): void {
  history.replaceState(null, "", href(place.get().view, query));
  place.set(here());
}

interface LinkProps {
  to: View;
  query?: URLSearchParams;
  class?: string;
  title?: string;
  current?: boolean;
  tabIndex?: number;
  children: ComponentChildren;
}

export function Link({ to, query, current, children, ...rest }: LinkProps): JSX.Element {
  const follow = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(to, query);
  };
  return (
    <a href={href(to, query)} onClick={follow} aria-current={current ? "page" : undefined} {...rest}>
      {children}
    </a>
  );
}
