import assert from "node:assert/strict";
import { databaseLabel, readDatabaseUrl } from "./database_url.ts";

const PROBLEMS = [
  ["nope", /it is not a URL/],
  ["", /it is not a URL/],
  ["https://abcdefghijklmnopqrst.supabase.co", /it begins with https:\/\/, not postgresql:\/\//],
  ["postgresql://", /it names no host/],
  ["postgresql:postgres", /it names no host/],
  ["postgresql://postgres:s3cret%@127.0.0.1/postgres", /its password has a %/],
] as const;

Deno.test("readDatabaseUrl() says what is wrong with a URL, and never repeats its password", () => {
  for (const [url, problem] of PROBLEMS) {
    assert.throws(() => readDatabaseUrl(url, "--db"), (error: Error) => {
      assert.match(error.message, problem);
      assert.match(error.message, /^Cannot use the database of --db: /);
      assert.ok(!error.message.includes("s3cret"));
      return true;
    });
  }
});

Deno.test("readDatabaseUrl() takes the URLs of a project, a pooler and a local server", () => {
  for (
    const url of [
      "postgresql://postgres.abcdefghijklmnopqrst:a%40b@aws-0-eu.pooler.supabase.com:5432/postgres",
      "postgres://postgres@localhost/postgres?sslmode=disable",
    ]
  ) {
    assert.equal(readDatabaseUrl(url, "--db"), url);
  }
});

Deno.test("databaseLabel() names host, port and database without user and password", () => {
  assert.equal(databaseLabel("postgres://a:b@db.example:6543/shop?x=1"), "db.example:6543/shop");
  assert.equal(databaseLabel("postgres://a:b@db.example"), "db.example:5432");
});
