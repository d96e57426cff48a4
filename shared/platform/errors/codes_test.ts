import assert from "node:assert/strict";
import { CLOSED_SETS } from "../db/closed_sets.ts";
import { ERROR_CODES, ERROR_TYPES, type ErrorCode, traitsOf } from "./codes.ts";
import { SwarmError } from "./swarm_error.ts";

const CODES = Object.keys(ERROR_CODES) as ErrorCode[];

Deno.test("the error types equal those that the ledger can record", () => {
  assert.deepEqual(
    Object.keys(ERROR_TYPES).sort(),
    [...CLOSED_SETS.mcp_failures.error_type].sort(),
  );
});

Deno.test("every code has a one-sentence hint, whoever raises it", () => {
  for (const code of CODES) {
    assert.match(ERROR_CODES[code].hint, /^[A-Z].*[^.]\.$/, code);
    assert.equal(new SwarmError(code, "Cannot do it").toBody().hint, ERROR_CODES[code].hint);
  }
  assert.equal(new SwarmError("INTERNAL", "x", { hint: "Do this." }).hint, "Do this.");
});

Deno.test("errors about the caller do not count as failures of a tool", () => {
  for (const code of CODES) {
    const { status, type, countsAsFailure } = ERROR_CODES[code];
    const isOfCaller = status === 401 || status === 403 || status === 429;
    if (isOfCaller) assert.equal(countsAsFailure, false, code);
    const isAuth = ERROR_TYPES[type].class === "auth";
    if (status === 401 || status === 403) assert.ok(isAuth, code);
    if (status === 429) assert.equal(type, "rate_limited", code);
  }
});

Deno.test("an error without a code is one that a tool reports in its own words", () => {
  assert.equal(traitsOf(undefined), ERROR_CODES.TOOL_FAILED);
});

Deno.test("only errors that a tool reports about its arguments can be fixed with other arguments", () => {
  assert.deepEqual(
    CODES.filter((code) => ERROR_CODES[code].isMendable),
    [
      "TOOL_ARGUMENTS_INVALID",
      "TOOL_INPUT_TOO_LARGE",
      "TOOL_FAILED",
      "SQL_INVALID",
      "SQL_FORBIDDEN",
      "SQL_FAILED",
      "SQL_RIGHT_MISSING",
      "SQL_ROW_LIMIT_EXCEEDED",
      "CONFIRMATION_REQUIRED",
      "CONFIRMATION_INVALID",
    ],
  );
});
