import assert from "node:assert/strict";
import { seededRandom } from "../../scripts/seeded_random.ts";
import { writeLine } from "../../scripts/terminal.ts";
import { classifySql } from "../../shared/servers/sql/classify_sql.ts";
import { DEFAULT_SQL_POLICY } from "../../shared/servers/sql/sql_policy.ts";
import { respellSql } from "./respell_sql.ts";
import { readSqlCorpus } from "./sql_corpus.ts";

const SEEDS = [1, 2, 3, 4, 5];

const corpus = await readSqlCorpus();
if (corpus === null) writeLine("skipped: there is no ../shared/data beside the checkout");

Deno.test({
  name: "classifySql() classifies every statement of the corpus as labeled",
  ignore: corpus === null,
  async fn() {
    const wrong: string[] = [];
    for (const { id, sql, kind, why } of corpus ?? []) {
      const { statementClass, findings } = await classifySql(sql, DEFAULT_SQL_POLICY);
      if (statementClass !== kind) {
        wrong.push(`${id} ${kind} → ${statementClass}: ${sql} (${why}) ${findings[0]?.reason}`);
      }
    }

    assert.deepEqual(wrong, []);
  },
});

Deno.test({
  name: "classifySql() gives a statement the same class in every spelling",
  ignore: corpus === null,
  async fn() {
    const wrong: string[] = [];
    for (const { id, sql, kind } of (corpus ?? []).filter(({ kind }) => kind !== "invalid")) {
      for (const seed of SEEDS) {
        const spelling = respellSql(sql, seededRandom(seed));
        const { statementClass } = await classifySql(spelling, DEFAULT_SQL_POLICY);
        if (statementClass !== kind) {
          wrong.push(`${id} seed ${seed} ${statementClass}: ${spelling}`);
        }
      }
    }

    assert.deepEqual(wrong, []);
  },
});

Deno.test({
  name: "classifySql() gives every spelling of a statement the same canonical tree",
  ignore: corpus === null,
  async fn() {
    const wrong: string[] = [];
    for (const { id, sql, kind } of corpus ?? []) {
      if (kind === "invalid" || kind === "multi") continue;
      const original = await classifySql(sql, DEFAULT_SQL_POLICY);
      const respelled = await classifySql(respellSql(sql, seededRandom(7)), DEFAULT_SQL_POLICY);
      if (original.statement?.canonicalTree !== respelled.statement?.canonicalTree) wrong.push(id);
    }

    assert.deepEqual(wrong, []);
  },
});
