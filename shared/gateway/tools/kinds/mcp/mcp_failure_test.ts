import assert from "node:assert/strict";
import { emptyTrace } from "./mcp_fetch.ts";
import { answerOfFailure, errorOfFailure, type McpFailure } from "./mcp_failure.ts";

const INVALID_PARAMS = -32602;

function failure(message: string, isRetry: boolean): McpFailure {
  const error = Object.assign(new Error(message), { code: INVALID_PARAMS });
  return { server: "files", credential: null, error, trace: emptyTrace(), isRetry };
}

function errorCodeOf(given: McpFailure): string | undefined {
  const answer = answerOfFailure(given);
  return answer.kind === "answered" ? answer.errorCode : answer.kind;
}

Deno.test("invalid parameters of a call with a state mean that the state was refused", () => {
  assert.equal(errorCodeOf(failure("Unknown state", true)), "TOOL_STATE_INVALID");
});

Deno.test("invalid parameters of a first call refer to the arguments or to an unknown tool", () => {
  assert.equal(errorCodeOf(failure("path is missing", false)), "TOOL_ARGUMENTS_INVALID");
  assert.equal(errorCodeOf(failure("Unknown tool: read", false)), "TOOL_NOT_FOUND");
});

Deno.test("a call that may have run says what happened to its response", () => {
  const lost = (status: number | null) => {
    const error = new Error("reset");
    const trace = { ...emptyTrace(), status };
    const answer = answerOfFailure({ server: "files", credential: null, error, trace });
    return answer.kind === "lost" ? answer.message : answer.kind;
  };

  assert.match(lost(null), /'files' closed the connection before it answered/);
  assert.match(lost(502), /'files' answered with an error \(HTTP 502\)/);
  assert.match(lost(200), /'files' returned an unreadable response/);
});

Deno.test("a server that refuses a connection is named with the code of its error, without its words", () => {
  const error = Object.assign(new Error("your key s3cret is unknown"), { code: -32000 });
  const trace = { ...emptyTrace(), status: 400 };
  const { message } = errorOfFailure({ server: "files", credential: null, error, trace });

  assert.match(message, /'files' is not available now \(HTTP 400, JSON-RPC error -32000\)/);
});
