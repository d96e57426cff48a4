import assert from "node:assert/strict";
import { validateValue } from "../../../shared/models/tool_schemas/validate_value.ts";
import type { JsonObject, JsonValue } from "../../../shared/platform/values/json.ts";
import { LISTS } from "./list_results.ts";
import { ERAS, openPeer, type PeerRequest, respond } from "./peer.ts";

const noAbort = new AbortController().signal;

for (const era of ERAS) {
  for (const { name, tools, kept, said } of LISTS) {
    Deno.test(`a ${era} server's list is offered as far as it can be: ${name}`, async () => {
      const { server } = openPeer(era, answerLists(() => ({ tools })));

      const listing = await server.listTools(noAbort);

      assert.deepEqual(listing.tools.map((tool) => tool.name), kept);
      const problems = listing.dropped.map(({ name, reason }) => `${name}: ${reason}`);
      assert.equal(problems.length, said.length, problems.join("\n"));
      said.forEach((pattern, index) => assert.match(problems[index] ?? "", pattern));
      for (const { inputSchema } of listing.tools) {
        assert.notEqual(validateValue({}, inputSchema).kind, "undecided");
      }
    });
  }
}

const named = (name: string): JsonValue => ({ name, inputSchema: { type: "object" } });

/** Pages by their cursor, and the problem that the list ends with. */
const CURSORS: readonly {
  readonly name: string;
  readonly page: (cursor: JsonValue | undefined) => JsonObject | null;
  readonly kept: readonly string[];
  readonly said: readonly RegExp[];
}[] = [
  { name: "null", page: () => ({ tools: [named("a")], nextCursor: null }), kept: ["a"], said: [] },
  { name: "empty", page: () => ({ tools: [named("a")], nextCursor: "" }), kept: ["a"], said: [] },
  {
    name: "empty and then rejected",
    page: (cursor) => cursor === "" ? null : { tools: [named("a")], nextCursor: "" },
    kept: ["a"],
    said: [],
  },
  {
    name: "a number",
    page: (cursor) =>
      cursor === "5" ? { tools: [named("b")] } : { tools: [named("a")], nextCursor: 5 },
    kept: ["a", "b"],
    said: [],
  },
  {
    name: "standing still",
    page: () => ({ tools: [named("a")], nextCursor: "same" }),
    kept: ["a"],
    said: [/leads to the same page again/],
  },
  {
    name: "new for the same page",
    page: (cursor = "") => ({ tools: [named("a")], nextCursor: `${String(cursor)}x` }),
    kept: ["a"],
    said: [/leads to the same page again/],
  },
  {
    name: "on a page without new tools",
    page: (cursor) =>
      cursor === undefined
        ? { tools: [named("a")], nextCursor: "1" }
        : cursor === "1"
        ? { tools: [], nextCursor: "" }
        : cursor === ""
        ? { tools: [named("a")], nextCursor: "2" }
        : { tools: [named("b")] },
    kept: ["a", "b"],
    said: [],
  },
  {
    name: "rejected by the server that gave it",
    page: (cursor) => cursor === undefined ? { tools: [named("a")], nextCursor: "x" } : null,
    kept: ["a"],
    said: [/rejects its own cursor: Invalid cursor/],
  },
  {
    name: "as the protocol says",
    page: (cursor) =>
      cursor === undefined ? { tools: [named("a")], nextCursor: "x" } : { tools: [named("b")] },
    kept: ["a", "b"],
    said: [],
  },
];

for (const era of ERAS) {
  for (const { name, page, kept, said } of CURSORS) {
    Deno.test(`the tools of a ${era} server are kept when its cursor is ${name}`, async () => {
      const { server } = openPeer(era, answerLists(page));

      const listing = await server.listTools(noAbort);

      assert.deepEqual(listing.tools.map((tool) => tool.name), kept);
      assert.equal(listing.dropped.length, said.length);
      said.forEach((pattern, index) => assert.match(listing.dropped[index]?.reason ?? "", pattern));
    });
  }
}

function answerLists(page: (cursor: JsonValue | undefined) => JsonObject | null) {
  return (request: PeerRequest): Response | undefined => {
    if (request.method !== "tools/list") return undefined;
    const result = page(request.params.cursor);
    if (result !== null) return respond(request, result);
    const error = { code: -32602, message: "Invalid cursor" };
    return Response.json({ jsonrpc: "2.0", id: request.id, error });
  };
}
