import { z } from "../../shared/vendor/zod.js";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { SEARCH_PATH } from "../cli/search_path.ts";
import { jsonObject, toInputSchema } from "../../shared/platform/values/json_schema.ts";
import { createEmbedderResolver } from "../../shared/servers/quoth/embedders/resolve_embedder.ts";
import type { AssertionPorts, JudgeQuestion, Judgment } from "./check_assertion.ts";
import { type EvalClient, resultOf } from "./run_job.ts";

const STATEMENT_LIMIT = "10s";
const EMBEDDING_LIMIT_MS = 60_000;

const judgmentSchema = z.object({
  pass: z.boolean(),
  score: z.number().min(0).max(1),
  reason: z.string(),
});

/**
 * The ports of a project: statements run with the connection of the command, embeddings come from the
 * project's embedders, and a judge is an agent that works in a job.
 *
 * @param tag In the metadata of the judges' jobs.
 */
export function createAssertionPorts(
  sql: Sql,
  { swarm }: EvalClient,
  { tag, signal }: { readonly tag: string; readonly signal: AbortSignal },
): AssertionPorts {
  const resolveEmbedder = createEmbedderResolver(sql, {
    transport: { fetch, requestTimeoutMs: EMBEDDING_LIMIT_MS, nowMs: Date.now },
  });
  return {
    readSql: async (statement, params) =>
      await sql.begin("read only", async (transaction) => {
        await transaction`
          select set_config('statement_timeout', ${STATEMENT_LIMIT}, true),
            set_config('search_path', ${SEARCH_PATH}, true)`;
        const query = statement.trim().replace(/;$/, "");
        // One statement only, and its values as JSON.
        const rows = await transaction.unsafe(
          `select to_jsonb(result) as row from (${query}\n) as result`,
          [...params],
          { prepare: false, simple: false } as object,
        );
        return rows.map(({ row }) => jsonObject.parse(row));
      }),
    similarity: async (first, second, embedder) => {
      const [row] = await sql`select coalesce(${embedder}, private.default_embedder()) as name`;
      const { embedder: { embedQuery } } = await resolveEmbedder(String(row?.name));
      const [a, b] = await Promise.all([embedQuery(first, signal), embedQuery(second, signal)]);
      // Vectors have the length 1.
      return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
    },
    judge: async (judge, question) => await askJudge(judge, question),
  };

  async function askJudge(judge: string, question: JudgeQuestion): Promise<Judgment> {
    const job = await swarm.run(judge, { ...question }, {
      outputSchema: toInputSchema(judgmentSchema),
      metadata: { tag },
      signal,
    });
    const { output, error } = await resultOf(job);
    const judgment = judgmentSchema.safeParse(output);
    if (judgment.success) return judgment.data;
    const reason = `${judge} did not judge: ${error ?? "its output is not {pass, score, reason}"}`;
    return { pass: false, score: 0, reason };
  }
}
