/** Looks again and again, as long as the page can be seen: some time after the last look has ended, however it did. */
export function keepLooking(look: (stopped: AbortSignal) => Promise<unknown>, everyMs: number): () => void {
  const stopped = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const next = async () => {
    clearTimeout(timer);
    if (document.hidden) return;
    try {
      await look(stopped.signal);
    } finally {
      clearTimeout(timer);
      if (!stopped.signal.aborted) timer = setTimeout(next, everyMs);
    }
  };
  const seen = () => void next();
  document.addEventListener("visibilitychange", seen);
  void next();
  return () => {
    stopped.abort();
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", seen);
  };
}
