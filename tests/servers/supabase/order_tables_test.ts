import assert from "node:assert/strict";
import { orderTables } from "../../../shared/servers/supabase/order_tables.ts";
import { indexTables } from "../../../shared/servers/sql/linking/rank_tables.ts";
import type { LinkableTable } from "../../../shared/servers/sql/linking/linkable_table.ts";
import { openFixtureOnSharedDatabase } from "../../gateway/tools/shared_database.ts";

const QUESTION = "How many employees does each office have?";

Deno.test("generate_sql finds tables by vectors if an embedder is configured", async (t) => {
  await using embeddings = startEmbedder();
  await using fixture = await openFixtureOnSharedDatabase();
  const { sql } = fixture;
  const tables = [table("invoices"), table("offices"), table("staff_members"), table("tickets")];
  const index = indexTables(tables);
  const logged: string[] = [];
  const uses: string[] = [];
  const order = async (tableIndex = index) => {
    const { ranked, embedder } = await orderTables(QUESTION, tableIndex, {
      sql,
      fetch,
      signal: new AbortController().signal,
      usedModel: ({ provider }) => void uses.push(provider),
      log: (_, event) => void logged.push(event),
    });
    return { names: ranked.map(({ index }) => tableIndex.tables[index]?.name), embedder };
  };

  await t.step("without an embedder full text decides", async () => {
    const { names, embedder } = await order();

    assert.deepEqual([names[0], embedder], ["offices", null]);
    assert.equal(embeddings.inputs.length, 0);
  });

  await sql`
    insert into public.embedders (name, api, base_url, model, model_dimensions, window_tokens,
      max_batch_items, similarity_floor, requires_api_key, preference)
    values ('meaning@1', 'openai', ${embeddings.url}, 'meaning', 768, 500, 64, 0, false, 1)`;

  await t.step("a table that a question names in other words comes next", async () => {
    const { names, embedder } = await order();

    assert.deepEqual(names.slice(0, 2), ["offices", "staff_members"]);
    assert.equal(embedder, "meaning@1");
    assert.equal(embeddings.inputs.length, tables.length + 1, "each table once, and the question");
  });

  await t.step(
    "vectors of tables are kept, and recomputed when a description changes",
    async () => {
      embeddings.inputs.length = 0;
      await order();
      assert.deepEqual(embeddings.inputs, [QUESTION]);

      const changed = indexTables([...tables.slice(0, 3), table("tickets", "priority")]);
      embeddings.inputs.length = 0;
      await order(changed);
      const [{ count } = { count: 0 }] = await sql<{ count: number }[]>`
      select count(*)::int as count from private.table_vectors`;
      assert.equal(embeddings.inputs.length, 2);
      assert.equal(count, tables.length, "the old description's vector is deleted");
    },
  );

  await t.step("a failing embedder keeps the full-text order", async () => {
    embeddings.isDown = true;
    const { names, embedder } = await order();

    assert.deepEqual([names[0], embedder], ["offices", null]);
    assert.deepEqual(logged, ["sql.tables_not_embedded"]);
  });
});

function table(name: string, column = "id"): LinkableTable {
  return {
    schema: "public",
    name,
    comment: null,
    columns: [{ name: column, type: "integer", comment: null }],
    primaryKey: [],
    foreignKeys: [],
  };
}

/** Texts about people are close to each other; every other text has its own direction. */
function startEmbedder() {
  const inputs: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (asked) => {
      const { input } = await asked.json() as { input: string[] };
      if (embedder.isDown) return new Response(null, { status: 500 });
      inputs.push(...input);
      const data = input.map((text, index) => ({ index, embedding: vectorOf(text) }));
      return Response.json({ data, usage: { prompt_tokens: 1 } });
    },
  );
  const embedder = {
    url: `http://127.0.0.1:${server.addr.port}/v1`,
    inputs,
    isDown: false,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return embedder;
}

function vectorOf(text: string): number[] {
  const axis = /staff|employees/.test(text) ? 0 : 1 + text.length % 700;
  return Array.from({ length: 768 }, (_, place) => place === axis ? 1 : 0);
}
