import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { SwarmError } from "../../../shared/platform/errors/swarm_error.ts";
import { SwarmClientError } from "../../swarm_client_error.ts";
import { CommandError } from "./command_error.ts";
import { errorText, explainError } from "./explain_error.ts";

const withFields = (error: Error, fields: object) => Object.assign(error, fields);
const postgresError = (fields: object) =>
  withFields(new Error("the server's message"), { name: "PostgresError", ...fields });

Deno.test("explainError() keeps what the errors of this project say", () => {
  const code = "BODY_INVALID";
  for (
    const error of [
      new CommandError(code, "Cannot do it", "Do that."),
      new SwarmError(code, "Cannot do it", { hint: "Do that." }),
      new SwarmClientError({ code, message: "Cannot do it", hint: "Do that." }),
    ]
  ) {
    assert.deepEqual(explainError(error), { message: "Cannot do it", hint: "Do that.", code });
  }
});

Deno.test("explainError() looks behind an error that hides the database's own", () => {
  const cause = withFields(new Error("connect ECONNREFUSED 127.0.0.1:9"), {
    code: "ECONNREFUSED",
    address: "127.0.0.1",
    port: 9,
  });

  const { message } = explainError(new SwarmError("DATABASE_UNAVAILABLE", "Cannot", { cause }));

  assert.equal(message, "Cannot connect to 127.0.0.1:9: nothing listens there");
});

/** Failed connections as Node, Deno and the driver report them. */
const CONNECTIONS: readonly (readonly [Error, RegExp])[] = [
  [withFields(new Error(""), { code: "ECONNREFUSED", errors: [] }), /the server: nothing listens/],
  [
    withFields(new AggregateError([withFields(new Error("x"), { address: "::1", port: 9 })]), {
      code: "ECONNREFUSED",
    }),
    /to ::1:9: nothing listens/,
  ],
  [
    withFields(new Error("x"), { code: "ENOTFOUND", hostname: "a.example" }),
    /a\.example: there is/,
  ],
  [withFields(new Error("x"), { code: "CONNECT_TIMEOUT" }), /does not answer/],
  [withFields(new Error("x"), { code: "ENETUNREACH" }), /this network has no way to it/],
  [withFields(new Error("x"), { code: "CONNECTION_CLOSED" }), /it closed the connection/],
  [withFields(new Error("x"), { code: "SELF_SIGNED_CERT_IN_CHAIN" }), /certificate/],
  [
    new TypeError("fetch failed", {
      cause: new Error("client error (Connect): dns error: failed to lookup address"),
    }),
    /there is no such host/,
  ],
  [new TypeError("fetch failed", { cause: new Error("bad port") }), /the server: bad port/],
  [new DOMException("Signal timed out.", "TimeoutError"), /it does not answer/],
];

Deno.test("explainError() says why a server was not reached", () => {
  for (const [error, expected] of CONNECTIONS) {
    const { message, hint, code } = explainError(error);

    assert.match(message, expected);
    assert.match(hint ?? "", /^Check the address/);
    assert.equal(code, "UNREACHABLE");
  }
});

Deno.test("explainError() says what is wrong with a file, for Node's and for Deno's errors", async () => {
  const file = await Deno.makeTempFile();
  const below = `${file}/below`;
  const failures = [
    [() => readFile(below), "open", "a part of its path is a file"],
    [() => Deno.readTextFile(below), "read", "a part of its path is a file"],
    [() => Deno.mkdir(below), "create", "a part of its path is a file"],
    [() => Deno.writeTextFile(below, ""), "write", "a part of its path is a file"],
    [() => Deno.readTextFile(`${file}-other`), "read", "there is no such file"],
  ] as const;
  for (const [run, verb, reason] of failures) {
    const { message, code } = explainError(await run().catch((error: unknown) => error));

    assert.match(message, new RegExp(`^Cannot ${verb} ${file}\\S*: ${reason}`));
    assert.equal(code, "FILE_FAILED");
  }
  await Deno.remove(file);
});

Deno.test("explainError() keeps the code of the platform's refusals and the SQLSTATE of others", () => {
  const own = postgresError({ code: "PT404", detail: "AGENT_NOT_FOUND", hint: "Name another." });
  const other = postgresError({ code: "42P01" });

  assert.deepEqual(explainError(own), {
    message: "the server's message",
    hint: "Name another.",
    code: "AGENT_NOT_FOUND",
  });
  assert.deepEqual(explainError(other), {
    message: "The database refused the statement: the server's message",
    hint: null,
    code: "42P01",
  });
});

Deno.test("errorText() has no stack unless it is asked for, and says so for a fault", () => {
  const fault = new TypeError("undefined is not a function");

  assert.match(errorText(fault, false), /^undefined is not a function\n.*SUPASWARM_DEBUG=1.*$/);
  assert.match(errorText(fault, true), /\n\s+at /);
  assert.equal(errorText("a text", false), "a text");
});
