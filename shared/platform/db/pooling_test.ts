import assert from "node:assert/strict";
import { createSql } from "./sql_client.ts";
import { poolingOf, withoutPoolMark, withPoolMode } from "../config/pooling.ts";

const DIRECT = "postgresql://postgres:p%40ss@db.abc.supabase.co:5432/postgres?sslmode=require";

Deno.test("poolingOf() knows a pooler by its port, its host and its mark", () => {
  const cases: readonly [string, { hasSessions: boolean; pipelines: boolean }][] = [
    [DIRECT, { hasSessions: true, pipelines: true }],
    ["postgresql://127.0.0.1/postgres", { hasSessions: true, pipelines: true }],
    ["postgresql://db.abc.supabase.co:6543/postgres", { hasSessions: false, pipelines: false }],
    [
      "postgresql://postgres.abc@aws-0-eu-west-1.pooler.supabase.com:6543/postgres",
      { hasSessions: false, pipelines: false },
    ],
    [
      "postgresql://postgres.abc@aws-0-eu-west-1.pooler.supabase.com:5432/postgres",
      { hasSessions: true, pipelines: false },
    ],
    ["postgresql://supavisor:5432/postgres", { hasSessions: true, pipelines: false }],
    ["postgresql://pg/postgres?pgbouncer=true", { hasSessions: false, pipelines: false }],
    ["postgresql://pg:6543/postgres?pgbouncer=false", { hasSessions: true, pipelines: true }],
  ];
  for (const [url, pooling] of cases) assert.deepEqual(poolingOf(url), pooling, url);
});

Deno.test("withPoolMode() and withoutPoolMark() change nothing else of an address", () => {
  for (const mode of ["session", "transaction"] as const) {
    const marked = withPoolMode(DIRECT, mode);
    assert.equal(poolingOf(marked).hasSessions, mode === "session");
    assert.equal(withoutPoolMark(marked), DIRECT);
  }
  assert.equal(withoutPoolMark(DIRECT), DIRECT);
});

Deno.test("createSql() sends a pooler one statement at a time and no parameter of ours", () => {
  const open = (url: string) => createSql(url, { maxConnections: 1, applicationName: "pooling" });
  const pooled = open("postgresql://pg.pooler.example.com/postgres?pgbouncer=true");
  const { max_pipeline: pipeline, prepare, connection } = pooled
    .options as typeof pooled.options & { max_pipeline: number };

  assert.equal(pipeline, 1);
  assert.equal(prepare, false);
  assert.deepEqual(Object.keys(connection), ["application_name"]);
});
