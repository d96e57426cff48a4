/** The tests of the gateway, by what they claim: they share one database. */
import "./gateway/scopes.ts";
import "./gateway/limits.ts";
import "./gateway/retries.ts";
import "./gateway/breaker.ts";
import "./gateway/approvals.ts";
import "./gateway/isolation.ts";
