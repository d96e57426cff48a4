import assert from "node:assert/strict";
import { isLostConnectionError, protectProcess } from "./protect_process.ts";

function lostConnectionError(): TypeError {
  const error = new TypeError("Cannot read properties of null (reading 'write')");
  error.stack = `${error}\n    at nextWrite (file:///npm/postgres/3.4.9/src/connection.js:255:22)`;
  return error;
}

Deno.test("protectProcess() suppresses and reports the error of a lost connection", () => {
  const swallowed: Error[] = [];
  const unprotect = protectProcess((error) => swallowed.push(error));
  const event = new ErrorEvent("error", { error: lostConnectionError(), cancelable: true });

  globalThis.dispatchEvent(event);
  unprotect();

  assert.equal(event.defaultPrevented, true);
  assert.equal(swallowed.length, 1);
});

Deno.test("protectProcess() suppresses the driver's own query that a lost connection rejects", () => {
  const swallowed: Error[] = [];
  const unprotect = protectProcess((error) => swallowed.push(error));
  const reason = Object.assign(new Error("write CONNECTION_CLOSED"), { code: "CONNECTION_CLOSED" });
  const event = new PromiseRejectionEvent("unhandledrejection", {
    promise: Promise.resolve(),
    reason,
    cancelable: true,
  });

  globalThis.dispatchEvent(event);
  unprotect();

  assert.equal(event.defaultPrevented, true);
  assert.deepEqual(swallowed, [reason]);
});

Deno.test("protectProcess() lets every other error end the process", () => {
  const unprotect = protectProcess(() => assert.fail("swallowed"));
  const event = new ErrorEvent("error", { error: new TypeError("x is null"), cancelable: true });

  globalThis.dispatchEvent(event);
  unprotect();

  assert.equal(event.defaultPrevented, false);
});

Deno.test("isLostConnectionError() checks both the message and the stack of an error", () => {
  const elsewhere = new TypeError("Cannot read properties of null (reading 'write')");

  assert.equal(isLostConnectionError(lostConnectionError()), true);
  assert.equal(isLostConnectionError(elsewhere), false);
  assert.equal(isLostConnectionError("Cannot read properties of null"), false);
});
