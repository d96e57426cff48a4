import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../shared/platform/values/json.ts";
import {
  answerOf,
  callOf,
  noAbort,
  nobody,
  openToolFixture,
} from "../gateway/tools/tool_fixture.ts";
import { startHttpServer } from "../gateway/tools/http_fixture.ts";
import { assertDoesNotBlock } from "./blocked_loop.ts";

Deno.test("the gateway passes on only checked values", async (t) => {
  const fixture = await openToolFixture();
  const { sql, gateway } = fixture;
  const userId = await fixture.createUser();
  await sql`select public.grant_scopes(${userId}, '{admin:*}')`;
  const asUser = { ...nobody(), userId, isService: false };
  const api = startHttpServer(({ body }) => Response.json({ got: body }));
  const addTool = async (type: "http_api" | "mcp_server" | "supabase_rpc", config: JsonObject) => {
    const id = await fixture.createTool({ type, config });
    const [row] = await sql<{ slug: string }[]>`select slug from public.tools where id = ${id}`;
    return row?.slug ?? "";
  };
  const call = (server: string, toolName: string, args: JsonObject) =>
    answerOf(gateway, callOf({ server, toolName }, asUser, args));
  try {
    const parameters = {
      type: "object",
      properties: { to: { type: "string", format: "email" }, text: { type: "string" } },
      required: ["to"],
    };
    const mail = await addTool("http_api", { method: "POST", url: `${api.url}/mail`, parameters });
    await call(mail, mail, { to: "ada@example.org" });

    await t.step("a long text next to a missing argument is answered immediately", async () => {
      for (const part of ["a", "a.", "a@", "@", "a@a.", "-", "é", " ", "http://", "1-"]) {
        const text = part.repeat(200_000 / part.length);
        await assertDoesNotBlock(`"${part}…"`, async () => {
          const answer = await call(mail, mail, { text });
          assert.equal(answer.errorClass, "schema", answer.text);
          assert.match(answer.text, /to/);
        });
      }
    });

    await t.step("undeclared arguments are removed, and the answer reports it", async () => {
      api.seen.length = 0;
      const answer = await call(mail, mail, {
        to: "ada@example.org",
        bcc: "eve@example.org",
        "x-role": "admin",
      });
      assert.equal(answer.isError, false);
      assert.match(
        answer.text,
        /not sent, because .* does not declare it: \$\.bcc, \$\["x-role"\]/,
      );
      assert.equal(api.seen.length, 1);
      assert.doesNotMatch(answer.text.split("(not sent")[0] ?? "", /eve@|admin/);
    });

    await t.step("arguments that cannot be checked are refused", async () => {
      const list = await addTool("http_api", {
        method: "POST",
        url: `${api.url}/list`,
        parameters: {
          type: "object",
          properties: { x: { type: "array", items: { type: "string" }, uniqueItems: true } },
          additionalProperties: { type: "string" },
        },
      });
      await call(list, list, { x: ["a"] });
      api.seen.length = 0;
      const unchecked: readonly JsonObject[] = [
        { x: Array.from({ length: 150_000 }, (_, number) => `i${number}`) },
        { "\ud800": "x" },
        { ok: 1 },
      ];
      for (const args of unchecked) {
        await assertDoesNotBlock("arguments that cannot be checked", async () => {
          const answer = await call(list, list, args);
          assert.equal(answer.errorClass, "schema", answer.text);
        });
      }
      assert.deepEqual(api.seen, []);
    });

    await t.step("a tool whose schema cannot be checked is not listed", async () => {
      const schemas: Readonly<Record<string, JsonValue>> = {
        fine: { type: "object", properties: { a: { type: "string" } } },
        endless: {
          type: "object",
          properties: { a: { $ref: "#/properties/a" } },
        },
        // Only this property goes unchecked.
        dangling: { type: "object", properties: { a: { $ref: "#/$defs/nowhere" } } },
        elsewhere: { type: "object", properties: { a: { $ref: "https://evil.example/s" } } },
        bomb: {
          type: "object",
          properties: { a: { $ref: "#/$defs/a" } },
          $defs: { ...doubling("abcdef"), g: { type: "string" } },
        },
      };
      const tools = Object.entries(schemas).map(([name, inputSchema]) => ({ name, inputSchema }));
      const server = Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen: () => {} },
        async (request) => {
          const { id = null } = request.method === "POST" ? await request.json() : {};
          const result = {
            tools,
            content: [{ type: "text", text: "called" }],
            protocolVersion: "2025-06-18",
            capabilities: { tools: {} },
            serverInfo: { name: "x", version: "1" },
          };
          return Response.json({ jsonrpc: "2.0", id, result });
        },
      );
      try {
        const slug = await addTool("mcp_server", {
          mcp_url: `http://127.0.0.1:${server.addr.port}/mcp`,
        });
        const listing = await gateway.listServerTools(slug, asUser, { refresh: true }, noAbort());
        const offered = listing.tools.map(({ name }) => name);
        assert.ok(offered.includes("fine"), offered.join());
        assert.ok(!offered.includes("bomb"), offered.join());
        for (const name of Object.keys(schemas)) {
          const outcome = await call(slug, name, { a: "x" });
          const isCalled = outcome.kind === "answered" && !outcome.isError;
          const isExpected = name === "fine" || name === "dangling";
          assert.equal(isCalled, isExpected, `${name}: ${JSON.stringify(outcome)}`);
        }
      } finally {
        await server.shutdown();
      }
    });

    await t.step("the result of a database function is measured before it is parsed", async () => {
      await sql.unsafe(`
        create function public.wide(p_count int) returns jsonb language sql stable as $$
          select jsonb_object_agg('k' || n, n) from generate_series(1, p_count) as n $$;
        create function public.deep(p_count int) returns jsonb language sql stable as $$
          select (repeat('[', p_count) || repeat(']', p_count))::jsonb $$;
        create function public.long(p_count int) returns jsonb language sql stable as $$
          select to_jsonb(repeat('%61', p_count)) $$;
        create function public.many(p_count int) returns setof jsonb language sql stable as $$
          select to_jsonb(repeat('x', 10000)) from generate_series(1, p_count) $$;
        create table public.made (id int);
        grant select, insert on public.made to authenticated;
        create function public.make_much() returns text language sql volatile as $$
          insert into public.made values (1); select repeat('x', 6000000) $$;
        grant execute on function public.wide, public.deep, public.long, public.many,
          public.make_much to authenticated;
      `);
      const names = ["wide", "deep", "long", "many", "make_much"];
      const slugs: Record<string, string> = {};
      for (const name of names) {
        slugs[name] = await addTool("supabase_rpc", { function: `public.${name}` });
      }
      const ask = (name: string, args: JsonObject) => call(slugs[name] ?? "", name, args);

      assert.deepEqual((await ask("wide", { p_count: 2 })).structured, { k1: 1, k2: 2 });
      assert.equal((await ask("many", { p_count: 3 })).isError, false);
      for (
        const [name, count] of [["wide", 200_000], ["deep", 3_000], ["long", 1_400_000]] as const
      ) {
        await assertDoesNotBlock(`${name} rows`, async () => {
          const { isError, structured, text } = await ask(name, { p_count: count });
          assert.equal(isError, false, text.slice(0, 200));
          if (name !== "long") assert.equal(structured, undefined, "it is only text");
        });
      }
      await assertDoesNotBlock("many rows", async () => {
        const { errorCode } = await ask("many", { p_count: 1_000 });
        assert.equal(errorCode, "OUTPUT_TOO_LARGE");
      });
      assert.equal((await ask("make_much", {})).errorCode, "OUTPUT_TOO_LARGE");
      const [row] = await sql`select count(*)::int as count from public.made`;
      assert.equal(row?.count, 0, "nothing has changed");
    });
  } finally {
    await api.stop();
    await fixture.stop();
  }
});

/** Definitions that each refer to the next one twenty times. */
function doubling(names: string): JsonObject {
  return Object.fromEntries(
    [...names].map((name) => [name, {
      allOf: Array(20).fill({ $ref: `#/$defs/${String.fromCharCode(name.charCodeAt(0) + 1)}` }),
    }]),
  );
}
