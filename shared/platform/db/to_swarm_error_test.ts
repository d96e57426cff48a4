import assert from "node:assert/strict";
import { SwarmError } from "../errors/swarm_error.ts";
import { toSwarmError } from "./to_swarm_error.ts";

Deno.test("toSwarmError() keeps a code raised by SQL with its message and hint", () => {
  const raised = { code: "PT409", detail: "LEASE_LOST", hint: "Drop it", message: "Too late" };

  const error = toSwarmError(raised, "finish the task");

  assert.deepEqual(error.toBody(), { code: "LEASE_LOST", message: "Too late", hint: "Drop it" });
});

Deno.test("toSwarmError() maps a lost connection to an unavailable, retryable error", () => {
  for (const code of ["CONNECTION_CLOSED", "CONNECT_TIMEOUT", "ECONNREFUSED", "57P01", "08006"]) {
    const error = toSwarmError({ code, message: "gone" }, "claim tasks");

    assert.equal(error.code, "DATABASE_UNAVAILABLE", code);
    assert.ok(error.isRetryable);
  }
});

Deno.test("toSwarmError() removes the statement's text from an unexpected error", () => {
  const raised = { code: "22P02", message: 'invalid input syntax for type json: "s3cret"' };

  const error = toSwarmError(raised, "claim tasks");

  assert.equal(error.code, "INTERNAL");
  assert.deepEqual(error.details, { sqlstate: "22P02" });
  assert.ok(!JSON.stringify(error.toBody()).includes("s3cret"));
  assert.equal(error.cause, raised);
});

Deno.test("toSwarmError() does not trust an unknown detail of a PT error", () => {
  assert.equal(toSwarmError({ code: "PT400", detail: "NO_SUCH" }, "x").code, "INTERNAL");
});

Deno.test("toSwarmError() returns a SwarmError unchanged", () => {
  const error = new SwarmError("LEASE_LOST", "gone");

  assert.equal(toSwarmError(error, "x"), error);
});
