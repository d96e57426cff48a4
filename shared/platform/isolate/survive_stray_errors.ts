import type { Logger } from "../log/logger.ts";

/**
 * Keeps the isolate alive after an error outside of all awaited promises.
 *
 * The PostgreSQL client throws such errors when the server dies; without this, a database restart
 * would end every worker. Queries in flight then time out.
 */
export function surviveStrayErrors(log: Logger): void {
  const survive = (event: Event, cause: unknown) => {
    event.preventDefault();
    log("error", "isolate.stray_error", { error: cause instanceof Error ? cause.name : "unknown" });
  };
  addEventListener("error", (event) => survive(event, event.error));
  addEventListener("unhandledrejection", (event) => survive(event, event.reason));
}
