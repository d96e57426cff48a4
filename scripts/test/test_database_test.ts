import assert from "node:assert/strict";
import { writePrefixStamp } from "../../stack/native/native_prefix.ts";
import { runBatch } from "./run_batch.ts";
import { chooseTestDatabase, testDatabaseEnv } from "./test_database.ts";

Deno.test("tests run on native Postgres where it is installed, otherwise on PGlite", async () => {
  const prefix = await Deno.makeTempDir();
  try {
    assert.equal(await chooseTestDatabase(undefined, prefix), "pglite");
    await assert.rejects(chooseTestDatabase("native", prefix), /native:install|none is set up/);
    await writePrefixStamp(prefix, {
      major: 15,
      bin_dir: "bin",
      extension_dir: "extension",
      source: "a machine",
    });
    assert.equal(await chooseTestDatabase(undefined, prefix), "native");
    assert.equal(await chooseTestDatabase("native", prefix), "native");
    assert.equal(await chooseTestDatabase("pglite", prefix), "pglite");
    await assert.rejects(chooseTestDatabase("mysql", prefix), /--db must be native or pglite/);
  } finally {
    await Deno.remove(prefix, { recursive: true });
  }
});

Deno.test("the engine of a run reaches the processes of its tests", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const module = new URL("./test_database.ts", import.meta.url).href;
    await Deno.writeTextFile(
      `${folder}/engine_test.ts`,
      `import { TEST_DATABASE } from ${JSON.stringify(module)};
       Deno.test(TEST_DATABASE, () => {});`,
    );
    for (const database of ["native", "pglite"] as const) {
      const { cases } = await runBatch({ files: ["engine_test.ts"], expectedMs: 0 }, {
        projectRoot: folder,
        filter: undefined,
        env: testDatabaseEnv(database),
        timeoutMs: 60_000,
      });
      assert.deepEqual(cases.map(({ name }) => name), [database]);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
