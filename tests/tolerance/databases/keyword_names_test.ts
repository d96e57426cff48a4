import assert from "node:assert/strict";
import { describeTable } from "../../../shared/servers/sql/linking/compact_schema.ts";
import { quoteName, sqlName } from "../../../shared/servers/sql/schema/quote_name.ts";
import type { TransactionSql } from "../../../shared/vendor/postgres.js";
import { openToolFixture } from "../../gateway/tools/tool_fixture.ts";

/** Names that are no keywords, and need quotes for their characters. */
const ODD_NAMES = [
  "Sales",
  "two words",
  'a "quoted" name',
  "2x",
  "ünï",
  "semi;colon",
  "it's",
  "a.b",
];

Deno.test("names that are written by quoteName() mean themselves, for every keyword of the server", async (t) => {
  await using fixture = await openToolFixture();
  // Rolled back, because the commit of so many definitions takes time.
  await assert.rejects(
    fixture.sql.begin(async (sql) => {
      await prove(sql, t);
      throw new Error("enough");
    }),
    /enough/,
  );
});

async function prove(sql: TransactionSql, t: Deno.TestContext): Promise<void> {
  const keywords = await sql<{ word: string }[]>`
    select word from pg_get_keywords()
    where word not in (select nspname from pg_namespace) order by 1`;
  const words = [...keywords.map(({ word }) => word), ...ODD_NAMES];

  await t.step("it adds quotes wherever quote_ident() does", async () => {
    const rows = await sql<{ word: string; quoted: string }[]>`
      select word, quote_ident(word) as quoted from jsonb_array_elements_text(${
      sql.json(words)
    }) as word`;

    assert.ok(keywords.length > 400);
    assert.deepEqual(
      rows.filter(({ word, quoted }) => quoted !== word && quoteName(word) !== quoted),
      [],
    );
  });

  await t.step(
    "each word is a schema, a table, a column, a type, a function and an alias",
    async () => {
      // The event triggers of the platform look at each of the 2,000 definitions.
      await sql.unsafe("set local session_replication_role = replica; create schema kinds");
      for (const word of words) {
        const [name, value] = [
          `"${word.replaceAll('"', '""')}"`,
          `'${word.replaceAll("'", "''")}'`,
        ];
        await sql.unsafe(`
        create schema if not exists ${name};
        create type kinds.${name} as enum (${value});
        create table ${name}.${name} (${name} kinds.${name});
        insert into ${name}.${name} values (${value});
        create function ${name}.${name}() returns text language sql as 'select ''called''';`);
        const own = sqlName({ schema: word, name: word });
        const column = quoteName(word);
        const type = sqlName({ schema: "kinds", name: word });

        const rows = await sql.unsafe(`
        insert into ${own} (${column}) values (${value}::${type});
        update ${own} set ${column} = ${value};
        select ${column}::text as "the value", ${own}() as "the call", ${column} as ${column}
        from ${own} as ${column}
        where ${column}.${column} = ${value}::${type}
        group by ${column} order by ${column}`);

        const [row] = rows.at(-1) as unknown as Record<string, string>[];
        assert.deepEqual(
          { ...row },
          { "the value": word, "the call": "called", [word]: word },
          word,
        );
      }
    },
  );

  await t.step("the line of a prompt has the names as statements write them", async () => {
    for (const word of words) {
      const table = {
        schema: word,
        name: word,
        comment: null,
        columns: [{ name: word, type: "text", comment: null }],
        primaryKey: [],
        foreignKeys: [],
      };
      const line = describeTable(table, [table]);
      const [from = "", rest = ""] = line.split(/\((?=[^(]* text\)$)/);

      const rows = await sql.unsafe(
        `select ${rest.replace(/ text\)$/, "")}::text as found from ${from}`,
      );
      assert.deepEqual(rows.map(({ found }) => found), [word, word], line);
    }
  });
}
