import { dirname, join } from "node:path";
import { z } from "../../shared/vendor/zod.js";
import { EDGE_DENO, runEdgeDeno } from "./edge_deno.ts";
import type { Deployment } from "./management_api.ts";

/** The function that serves the SQL tools. */
const FUNCTION = "mcp";
const CLASSIFIER = "shared/servers/sql/classify_sql.ts";

/** Statements with the class that the deployed code must return. */
const STATEMENTS: Readonly<Record<string, string>> = {
  "select count(*) from products where price > 10": "read",
  "with gone as (delete from products returning id) select * from gone": "write",
  "select pg_read_file('/etc/passwd')": "forbidden",
  "select 1; drop table products": "multi",
};

const judgedSchema = z.record(z.string(), z.string());

/**
 * Runs the SQL classifier from the files that the CLI uploaded, in the edge runtime's Deno and
 * without permissions: its parser must not read files or send requests.
 */
export async function checkDeployedSql(deployments: readonly Deployment[]): Promise<string[]> {
  const deployment = deployments.find(({ slug }) => slug === FUNCTION);
  if (deployment === undefined) return [`${FUNCTION}, which parses SQL, was not deployed`];
  const folder = await Deno.makeTempDir({ prefix: "supaswarm-deployed-" });
  try {
    for (const [path, content] of deployment.contents) {
      await Deno.mkdir(join(folder, dirname(path)), { recursive: true });
      await Deno.writeFile(join(folder, path), content.stream());
    }
    await Deno.writeTextFile(join(folder, "judge.ts"), judgeSource());
    const run = await runEdgeDeno(folder, ["run", "--no-lock", "--no-config", "judge.ts"]);
    if (!run.succeeded) {
      return [`${EDGE_DENO} cannot parse SQL with the uploaded files:\n${run.stderr}`];
    }
    const judged = judgedSchema.parse(JSON.parse(run.stdout));
    return Object.entries(STATEMENTS).flatMap(([sql, kind]) =>
      judged[sql] === kind
        ? []
        : [`the uploaded code classifies '${sql}' as ${judged[sql]}, not ${kind}`]
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function judgeSource(): string {
  return `
    import { classifySql } from "./${CLASSIFIER}";
    const policy = { exposedSchemas: ["public"], readFunctions: [], writeFunctions: [] };
    const judged = {};
    for (const sql of ${JSON.stringify(Object.keys(STATEMENTS))}) {
      judged[sql] = (await classifySql(sql, policy)).statementClass;
    }
    console.log(JSON.stringify(judged));
  `;
}
