import { plainLine } from "../../shared/platform/values/markdown_text.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { describeTable, describeTypes } from "../../shared/servers/sql/linking/compact_schema.ts";
import { toLinkable } from "../../shared/servers/sql/linking/to_linkable.ts";
import type { DatabaseSchema } from "../../shared/servers/sql/schema/database_schema.ts";

/** Lists the tables of the exposed schemas as signed-in users see them, one per line. */
export async function schemaOverview(sql: Sql): Promise<string> {
  const [row] = await sql.begin("read only", async (transaction) => {
    const [policy] = await transaction`
      select private.read_sql_policy() -> 'exposed_schemas' as schemas`;
    await transaction`set local role authenticated`;
    return await transaction<{ content: DatabaseSchema }[]>`
      select private.describe_schema(${transaction.json(policy?.schemas ?? [])}) as content`;
  });
  const tables = toLinkable(row?.content ?? { relations: [], enums: [], types: [] });
  return [...tables.map((table) => describeTable(table, tables)), ...describeTypes(tables)]
    .map(plainLine).join("\n");
}
