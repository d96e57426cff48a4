import assert from "node:assert/strict";
import { inspect } from "node:util";
import { callFunction, callRpc, type SupabaseLike, useBucket } from "./supabase.ts";

/** A client of a project whose REST API and Storage give these answers. */
function answering(answer: object): SupabaseLike {
  return {
    rpc: () => Promise.resolve(answer),
    storage: { from: () => ({ upload: () => Promise.resolve(answer) }) },
  } as unknown as SupabaseLike;
}

Deno.test("callRpc() names the schema when the REST API does not serve the function", async () => {
  const error = { code: "PGRST202", message: "Could not find public.read_events", hint: null };
  const supabase = answering({ error, status: 404 });

  await assert.rejects(callRpc(supabase, "read_events", {}), {
    code: "PGRST202",
    hint: /createSwarm\(supabase, \{ schema: "supaswarm" \}\)/,
  });
});

Deno.test("callRpc() says what to do about errors of PostgREST and Postgres", async () => {
  const signedOut = { code: "42501", message: "permission denied for function list_jobs" };
  const noId = { code: "22P02", message: 'invalid input syntax for type uuid: "nope"' };

  await assert.rejects(callRpc(answering({ error: signedOut, status: 401 }), "list_jobs", {}), {
    code: "UNAUTHORIZED",
    message: /no user is signed in \(permission denied for function list_jobs\)/,
    hint: /supabase\.auth/,
  });
  await assert.rejects(callRpc(answering({ error: noId, status: 400 }), "read_events", {}), {
    code: "22P02",
    hint: /UUID/,
  });
});

Deno.test("useBucket() explains a refusal by a policy, and no other error", async () => {
  const upload = (statusCode: string) =>
    useBucket(
      answering({ error: { message: "refused", statusCode } }),
      "files",
      (bucket) => bucket.upload("a.exe", "", {}),
      { forbiddenHint: "Use another extension." },
    );

  await assert.rejects(upload("403"), { code: "HTTP_403", hint: "Use another extension." });
  await assert.rejects(upload("500"), { code: "HTTP_500", hint: null });
});

Deno.test("an error of an answer prints its fields once, and not the response", async () => {
  const body = { error: { code: "AGENT_NOT_FOUND", message: "No agent", hint: "Name another." } };
  const context = Response.json(body, { status: 404, headers: { "x-request-id": "r-1" } });
  const error = Object.assign(new Error("non-2xx status code"), { context });
  const supabase = {
    functions: { invoke: () => Promise.resolve({ data: null, error }) },
  } as unknown as SupabaseLike;

  const failure = await callFunction(supabase, "supaswarm-create-task").then(
    () => assert.fail("it was answered with an error"),
    (reason: Error) => reason,
  );

  const printed = inspect(failure).split("\n").filter((line) => !/^\s+at /.test(line));
  assert.deepEqual(printed, [
    "SwarmClientError: No agent",
    "  code: 'AGENT_NOT_FOUND',",
    "  hint: 'Name another.',",
    "  status: 404,",
    "  requestId: 'r-1',",
    "  details: null",
    "}",
  ]);
});
