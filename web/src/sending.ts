/** Changes something at Warren, one thing at a time. */

import { useState } from "preact/hooks";
import { ApiError } from "./api";

export interface Sending {
  isBusy: boolean;
  /** Why the last one was refused. */
  error: ApiError | null;
  send: (change: () => Promise<void>) => Promise<void>;
}

export function useSending(): Sending {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const send = async (change: () => Promise<void>) => {
    setBusy(true);
    try {
      await change();
      setError(null);
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, error, send };
}
