import assert from "node:assert/strict";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import type { ToolCaller } from "../../../shared/gateway/tool_contracts/tool_caller.ts";
import { noAbort, openToolFixture, userCaller } from "../../gateway/tools/tool_fixture.ts";
import { registerSupabase } from "./supabase_call.ts";

Deno.test("the server supabase offers its schema and context as resources", async (t) => {
  await using fixture = await openToolFixture();
  const { sql, gateway } = fixture;
  await sql.unsafe(`
    create table public.orders (id int primary key);
    create table public.hidden (id int primary key);
    create table public."Maße, alle/neu" (id int primary key);
    grant select on public.orders, public."Maße, alle/neu" to authenticated;`);
  await registerSupabase(fixture);
  const user = userCaller(await fixture.createUser());
  const read = async (uri: string, caller: ToolCaller = user) => {
    const relayed = {
      server: "supabase",
      caller,
      method: "resources/read",
      params: { uri },
    } as const;
    const { contents } = await gateway.relay(relayed, noAbort());
    return (contents as JsonObject[])[0];
  };

  await t.step("the schema is that of its reader", async () => {
    const schema = await read("supabase://schema");

    assert.equal(schema?.mimeType, "text/markdown");
    assert.match(String(schema?.text), /### `public\.orders`/);
    assert.doesNotMatch(String(schema?.text), /hidden/);
  });

  await t.step("a table is returned only if its reader may use it", async () => {
    assert.match(String((await read("supabase://schema/orders"))?.text), /### `public\.orders`/);
    await assert.rejects(read("supabase://schema/hidden"), { code: "RESOURCE_NOT_FOUND" });
  });

  await t.step("a name in a URI is percent-encoded", async () => {
    const uri = `supabase://schema/${encodeURIComponent("Maße, alle/neu")}`;
    const table = await read(uri);

    assert.equal(table?.uri, uri);
    assert.match(String(table?.text), /### `public\."Maße, alle\/neu"`/);
    await assert.rejects(read("supabase://schema/%E0%A4"), { code: "RESOURCE_NOT_FOUND" });
  });

  await t.step("the context is returned once it is published", async () => {
    await assert.rejects(read("supabase://context"), { code: "RESOURCE_NOT_FOUND" });
    await sql`select private.publish_sql_context('# Supabase SQL Context Learning', '{}')`;

    assert.equal((await read("supabase://context"))?.text, "# Supabase SQL Context Learning");
  });

  await t.step("nobody reads them without sql:read", async () => {
    await sql`
      insert into public.mcp_grants (user_id, scopes) values (${user.userId}, '{quoth:read}')`;

    for (const uri of ["supabase://schema", "supabase://context", "supabase://schema/orders"]) {
      await assert.rejects(read(uri), { code: "INSUFFICIENT_SCOPE" });
    }
  });
});
