import assert from "node:assert/strict";
import { readReferenceData } from "../../lab/bench/reference_files.ts";
import { writeLine } from "../../scripts/terminal.ts";
import { classifySql } from "../../shared/servers/sql/classify_sql.ts";
import { parseCsv } from "../../shared/servers/sql/results/read_results.ts";
import { DEFAULT_SQL_POLICY } from "../../shared/servers/sql/sql_policy.ts";

/** One of the reference databases has its own schema. */
const POLICY = { ...DEFAULT_SQL_POLICY, exposedSchemas: ["public", "consumer_div"] };

const bytes = await readReferenceData("defog/questions.csv");
if (bytes === null) writeLine("skipped: there is no ../shared/data beside the checkout");

Deno.test({
  name: "classifySql() classifies every gold query of the reference questions as a read",
  ignore: bytes === null,
  async fn() {
    const queries = goldQueries(new TextDecoder().decode(bytes ?? new Uint8Array()));
    const wrong: string[] = [];
    for (const query of queries) {
      const { statementClass, findings } = await classifySql(query, POLICY);
      if (statementClass !== "read") {
        wrong.push(`${statementClass}: ${findings[0]?.reason} ${query}`);
      }
    }

    writeLine(`${queries.length} gold queries, ${wrong.length} refused`);
    assert.ok(queries.length > 150, `${queries.length} queries`);
    assert.deepEqual(wrong, []);
  },
});

/** A cell may hold several queries, and braces around columns of which any may be selected. */
function goldQueries(csv: string): string[] {
  const [names = [], ...rows] = parseCsv(csv);
  const column = names.indexOf("query");
  return rows
    .flatMap((row) => (row[column] ?? "").split(";"))
    .map((query) => query.replaceAll("{}", "1").replace(/\{([^}]*)\}/g, "$1").trim())
    .filter((query) => query !== "");
}
