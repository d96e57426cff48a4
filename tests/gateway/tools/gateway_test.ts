/** The gateway tests, which share one database. */
import "./gateway/scopes.ts";
import "./gateway/limits.ts";
import "./gateway/retries.ts";
import "./gateway/breaker.ts";
import "./gateway/approvals.ts";
import "./gateway/isolation.ts";
