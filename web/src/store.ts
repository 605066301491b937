/** A value that views follow. */

import { useEffect, useState } from "preact/hooks";

export interface Store<T> {
  get(): T;
  set(value: T): void;
  subscribe(tell: () => void): () => void;
}

export function createStore<T>(value: T): Store<T> {
  const followers = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const tell of [...followers]) tell();
    },
    subscribe(tell) {
      followers.add(tell);
      return () => followers.delete(tell);
    },
  };
}

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(store.get());
  useEffect(() => {
    const update = () => setValue(() => store.get());
    update();
    return store.subscribe(update);
  }, [store]);
  return value;
}
