import assert from "node:assert/strict";
import { platformExtensions, platformHash, platformSql } from "./platform_files.ts";

Deno.test("platformSql() returns the files in the order of their numbers", async () => {
  const numbers = (await platformSql()).map(({ name }) => Number.parseInt(name, 10));

  assert.deepEqual(numbers, numbers.map((_, index) => index + 1));
});

Deno.test("each extension has a control file and the script of its default version", async () => {
  for (const { name, files } of await platformExtensions()) {
    const control = files.find((file) => file.name === `${name}.control`)?.content ?? "";
    const version = control.match(/^default_version = '(.+)'$/m)?.[1];

    assert.ok(files.some((file) => file.name === `${name}--${version}.sql`), name);
    assert.match(control, /^trusted = true$/m);
  }
});

Deno.test("platformHash() is stable", async () => {
  assert.match(await platformHash(), /^[0-9a-f]{64}$/);
  assert.equal(await platformHash(), await platformHash());
});
