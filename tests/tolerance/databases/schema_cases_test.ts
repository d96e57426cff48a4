import assert from "node:assert/strict";
import {
  describeTable,
  describeTypes,
} from "../../../shared/servers/sql/linking/compact_schema.ts";
import { toLinkable } from "../../../shared/servers/sql/linking/to_linkable.ts";
import {
  type DatabaseSchema,
  structureText,
} from "../../../shared/servers/sql/schema/database_schema.ts";
import { quoteName } from "../../../shared/servers/sql/schema/quote_name.ts";
import { documentOf } from "../../../shared/servers/supabase/generate_schema.ts";
import { pageOf } from "../../../shared/servers/sql/schema/schema_page.ts";
import { schemaSql } from "../../../shared/servers/sql/schema/schema_sql.ts";
import { createSql, type Sql } from "../../../shared/platform/db/sql_client.ts";
import type { TransactionSql } from "../../../shared/vendor/postgres.js";
import { openToolDatabase, openToolFixture, userCaller } from "../../gateway/tools/tool_fixture.ts";
import { callSupabase, registerSupabase } from "../../servers/supabase/supabase_call.ts";
import { SCHEMA_CASES } from "./schema_cases.ts";

const EXPOSED = ["shop", "Sales"];

/** Definitions that are not in the cases, because a description cannot be run where they are missing. */
const ELSEWHERE = `
  create foreign data wrapper nowhere;
  create server depot foreign data wrapper nowhere;
  create foreign table shop.stock (id int not null, amount int) server depot;
  alter foreign table shop.stock owner to postgres; alter server depot owner to postgres`;

Deno.test("descriptions of a schema keep what people define", async (t) => {
  const database = await openToolDatabase();
  const fixture = await openToolFixture({ database });
  const { sql } = fixture;
  await registerSupabase(fixture);
  await sql.unsafe('create schema shop; create schema "Sales";');
  for (const { input } of SCHEMA_CASES) await sql.unsafe(input);
  const admin = createSql(database.adminUrl, { maxConnections: 1, applicationName: "admin" });
  await admin.unsafe(ELSEWHERE);
  await admin.end();
  await sql.unsafe(
    EXPOSED.map((name) => `
    grant usage on schema ${quoteName(name)} to authenticated;
    grant all on all tables in schema ${quoteName(name)} to authenticated;`).join(""),
  );
  await sql`update private.sql_policy set exposed_schemas = ${`{${EXPOSED.join(",")}}`}::text[]`;
  const user = userCaller(await fixture.createUser());

  const tables = toLinkable(await describe(sql));
  const lines = [...tables.map((each) => describeTable(each, tables)), ...describeTypes(tables)];

  for (const { name, table, kept, said = {}, absent = [] } of SCHEMA_CASES) {
    for (const format of ["markdown", "json", "sql"] as const) {
      await t.step(`${name}: ${format}`, async () => {
        const { text } = await callSupabase(fixture, user, "generate_schema", {
          format,
          tables: [table],
          analyze: false,
        });

        const found = text.replaceAll("\\|", "|");
        for (const part of [...kept, ...said[format] ?? []]) assertHas(found, part);
        for (const part of absent) assert.ok(!found.includes(part), `has ${part}\n${text}`);
      });
    }
    await t.step(`${name}: the prompt of generate_sql`, () => {
      for (const part of said.prompt ?? kept) assertHas(lines.join("\n"), part);
    });
  }

  await t.step("a later page has the types of its tables", async () => {
    const { answer } = await callSupabase(fixture, user, "generate_schema", {
      format: "json",
      cursor: "shop.sums",
      limit: 1,
      analyze: false,
    });

    assert.deepEqual((answer.enums as { name: string }[]).map(({ name }) => name), ["level"]);
  });

  await t.step(
    "a foreign table names its server and takes no writes without a handler",
    async () => {
      const { text } = await callSupabase(fixture, user, "generate_schema", {
        tables: ["shop.stock"],
        analyze: false,
      });

      assertHas(text, "you may use: select; foreign table of the server `depot`");
    },
  );

  await t.step("a column that is computed cannot be written, its neighbors can", async () => {
    const { answer } = await callSupabase(fixture, user, "generate_schema", {
      tables: ["doubled"],
      format: "json",
      analyze: false,
    });
    const [view] = answer.views as { columns: { name: string; is_insertable: boolean }[] }[];

    assert.deepEqual(
      view?.columns.map((column) => [column.name, column.is_insertable]),
      [["id", true], ["amount", true], ["twice", false]],
    );
  });

  await t.step("the SQL form makes the same schema in an empty database", async () => {
    await assert.rejects(
      sql.begin(async (transaction) => {
        await transaction.unsafe("set local session_replication_role = replica");
        await transaction.unsafe("drop server depot cascade");
        await addKeywords(transaction);
        const before = await describe(transaction);
        await transaction.unsafe('drop schema shop, "Sales", hidden_kinds cascade');

        await transaction.unsafe(schemaSql(wholePage(before)));

        assert.equal(structureText(await describe(transaction)), structureText(before));
        throw new Error("enough");
      }),
      /enough/,
    );
  });
  await fixture.stop();
  await database.stop();
});

/** A table with every keyword of the server as a column, of types that are named by keywords. */
async function addKeywords(sql: TransactionSql): Promise<void> {
  const rows = await sql<{ word: string; is_reserved: boolean }[]>`
    select word, catcode <> 'U' as is_reserved from pg_get_keywords() order by 1`;
  const reserved = rows.filter(({ is_reserved: isReserved }) => isReserved);
  await sql.unsafe(
    reserved.map(({ word }) => `create type "Sales"."${word}" as enum ('${word}')`).join(";"),
  );
  const columns = rows.map(({ word, is_reserved: isReserved }) =>
    `"${word}" ${isReserved ? `"Sales"."${word}"` : "text"}`
  );
  await sql.unsafe(`create table "Sales".words (${columns.join(", ")})`);
}

async function describe(sql: Sql | TransactionSql): Promise<DatabaseSchema> {
  const [row] = await sql<{ content: DatabaseSchema }[]>`
    select private.describe_schema(${sql.json(EXPOSED)}) as content`;
  assert.ok(row);
  return row.content;
}

function wholePage(schema: DatabaseSchema) {
  const known = {
    schema,
    catalogVersion: "",
    schemaHash: "",
    analysis: null,
    generatedAt: "",
    isCached: false,
  };
  return documentOf(
    known,
    pageOf(schema, { names: null, cursor: null, limit: 1_000 }),
    { include_relationships: true, tables: undefined, cursor: undefined },
    { kind: "none", reason: "" },
  );
}

function assertHas(text: string, part: string): void {
  assert.ok(text.includes(part), `lacks ${part}\n${text}`);
}
