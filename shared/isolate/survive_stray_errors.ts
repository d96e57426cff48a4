import type { Logger } from "../log/logger.ts";

/**
 * Keeps the isolate alive when an error surfaces outside every promise that anybody awaits.
 *
 * The Postgres client throws so when the server dies under it; without this, a database restart
 * would end every worker. Queries in flight then run into their own timeout.
 */
export function surviveStrayErrors(log: Logger): void {
  const survive = (event: Event, cause: unknown) => {
    event.preventDefault();
    log("error", "isolate.stray_error", { error: cause instanceof Error ? cause.name : "unknown" });
  };
  addEventListener("error", (event) => survive(event, event.error));
  addEventListener("unhandledrejection", (event) => survive(event, event.reason));
}
