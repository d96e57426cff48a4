import assert from "node:assert/strict";
import { SCHEMA_VERSION } from "../platform/db/schema_version.ts";
import type { Sql } from "../platform/db/sql_client.ts";
import { createReleaseCheck } from "./release_check.ts";

/** A database whose release is the next of `versions`; an object is the error of the query. */
function databaseOf(...versions: readonly (string | { code: string })[]) {
  const left = [...versions];
  const sql = () => {
    const next = left.shift();
    return typeof next === "string"
      ? Promise.resolve([{ version: next }])
      : Promise.reject(Object.assign(new Error("refused"), next));
  };
  return { sql: sql as unknown as Sql, left };
}

const ignore = () => {};

Deno.test("createReleaseCheck() asks the database once", async () => {
  const { sql, left } = databaseOf(SCHEMA_VERSION, "0.0.1");
  const check = createReleaseCheck(sql, ignore);

  await check();
  await check();

  assert.deepEqual(left, ["0.0.1"]);
});

Deno.test("an older database is refused until its migrations are applied", async () => {
  const check = createReleaseCheck(databaseOf("0.0.9", SCHEMA_VERSION).sql, ignore);

  await assert.rejects(check(), { code: "SCHEMA_OUTDATED" });
  await check();
});

Deno.test("a database without a release is refused", async () => {
  for (const code of ["42883", "3F000"]) {
    const check = createReleaseCheck(databaseOf({ code }).sql, ignore);
    await assert.rejects(check(), { code: "SCHEMA_OUTDATED", message: /no release/ });
  }
});

Deno.test("a newer database is logged, because both releases run during an upgrade", async () => {
  const logged: unknown[] = [];
  const check = createReleaseCheck(
    databaseOf("99.0.0").sql,
    (_level, event, fields) => logged.push([event, fields]),
  );

  await check();

  assert.deepEqual(logged, [[
    "function.outdated",
    { database: "99.0.0", function: SCHEMA_VERSION },
  ]]);
});
