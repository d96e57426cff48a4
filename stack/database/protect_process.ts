import { isConnectionLoss } from "./connection_loss.ts";

/**
 * Keeps the process alive when the database disconnects: postgres.js 3.4.9 then writes to a socket
 * that it has just set to null, in a timer where no caller can catch the TypeError, and rejects
 * queries of its own that it does not await. The caller's query is rejected, so no failure is hidden.
 * Every other uncaught error still ends the process.
 *
 * Works in the main process and in workers. Installing it twice is harmless.
 *
 * @param onSwallowed Called with each swallowed error, for the log.
 * @returns A function that removes the protection.
 */
export function protectProcess(onSwallowed: (error: Error) => void): () => void {
  const onError = (event: ErrorEvent) => {
    if (!isLostConnectionError(event.error)) return;
    event.preventDefault();
    onSwallowed(event.error);
  };
  const onRejection = (event: PromiseRejectionEvent) => {
    if (!isConnectionLoss(event.reason) && !isLostConnectionError(event.reason)) return;
    event.preventDefault();
    onSwallowed(event.reason);
  };
  globalThis.addEventListener("error", onError);
  globalThis.addEventListener("unhandledrejection", onRejection);
  return () => {
    globalThis.removeEventListener("error", onError);
    globalThis.removeEventListener("unhandledrejection", onRejection);
  };
}

/** Whether this is the TypeError that postgres.js throws when its socket is closed. */
export function isLostConnectionError(error: unknown): error is TypeError {
  return error instanceof TypeError &&
    /of null \(reading '(write|end|destroy)'\)/.test(error.message) &&
    /postgres[^\n]*connection\.js/.test(error.stack ?? "");
}
