import assert from "node:assert/strict";
import { unguardedExtensions } from "./unguarded_extensions.ts";

const guarded = (name: string) =>
  `do $$\nbegin\n  if not exists (select from pg_catalog.pg_extension where extname = '${name}') then\n` +
  `    create extension pg_cron;\n  end if;\nend;\n$$;`;

Deno.test("unguardedExtensions() finds each statement whose extension may exist", () => {
  for (
    const sql of [
      "create extension pg_cron;",
      "select 1;\ncreate extension if not exists pg_cron;",
      'CREATE EXTENSION\n  IF NOT EXISTS "pg_cron" WITH SCHEMA extensions;',
      "execute 'create extension pg_cron';",
      guarded("pgmq"),
    ]
  ) assert.equal(unguardedExtensions("a.sql", sql).length, 1, sql);
  assert.match(
    unguardedExtensions("a.sql", "\ncreate extension pg_net;")[0] ?? "",
    /^a\.sql:2: create pg_net /,
  );
});

Deno.test("unguardedExtensions() accepts a statement that its guard precedes", () => {
  assert.deepEqual(unguardedExtensions("a.sql", guarded("pg_cron")), []);
});
