import assert from "node:assert/strict";
import { startNativeCluster } from "../../stack/native/native_cluster.ts";
import { findNativePrefix } from "../../stack/native/native_prefix.ts";
import { createSql } from "../../shared/platform/db/sql_client.ts";

async function withFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "supaswarm_cluster_" });
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function query(url: string, text: string) {
  const sql = createSql(url, { maxConnections: 1, applicationName: "supaswarm-test" });
  try {
    return await sql.unsafe(text);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

Deno.test("a cluster keeps its data and the password of its address after a restart", () =>
  withFolder(async (dataDir) => {
    const prefix = await findNativePrefix();
    const first = await startNativeCluster({ prefix, dataDir, port: 0 });
    await query(first.url, "create table public.kept as select 1 as id");
    await first.stop();
    await first.stop();

    const again = await startNativeCluster({ prefix, dataDir, port: 0 });
    const rows = await query(again.url, "select id from public.kept");
    await again.stop();

    assert.deepEqual(rows.map((row) => row.id), [1]);
    assert.equal(new URL(first.url).password, new URL(again.url).password);
  }));

Deno.test("a server that outlived its stack is replaced", () =>
  withFolder(async (dataDir) => {
    const prefix = await findNativePrefix();
    const orphan = await startNativeCluster({ prefix, dataDir, port: 0 });
    await query(orphan.url, "create table public.kept as select 1 as id");

    const next = await startNativeCluster({ prefix, dataDir, port: 0 });
    const rows = await query(next.url, "select id from public.kept");
    await next.stop();

    assert.notEqual(orphan.pid, next.pid);
    assert.equal(rows.length, 1);
  }));

Deno.test("a killed server recovers acknowledged data", () =>
  withFolder(async (dataDir) => {
    const prefix = await findNativePrefix();
    const killed = await startNativeCluster({ prefix, dataDir, port: 0 });
    await query(killed.url, "create table public.kept as select 1 as id");
    Deno.kill(killed.pid, "SIGKILL");

    const next = await startNativeCluster({ prefix, dataDir, port: 0 });
    const rows = await query(next.url, "select id from public.kept");
    await next.stop();

    assert.equal(rows.length, 1);
  }));

Deno.test("an interrupted first start begins again", () =>
  withFolder(async (dataDir) => {
    await Deno.writeTextFile(`${dataDir}/unfinished`, "");
    await Deno.mkdir(`${dataDir}/pgdata`);
    await Deno.writeTextFile(`${dataDir}/pgdata/leftover`, "");

    const cluster = await startNativeCluster({
      prefix: await findNativePrefix(),
      dataDir,
      port: 0,
    });
    await cluster.stop();

    await assert.rejects(Deno.stat(`${dataDir}/pgdata/leftover`), Deno.errors.NotFound);
  }));

Deno.test("a folder of another version or owner is refused", () =>
  withFolder(async (dataDir) => {
    const prefix = await findNativePrefix();
    await Deno.mkdir(`${dataDir}/pgdata`);
    await assert.rejects(
      startNativeCluster({ prefix, dataDir, port: 0 }),
      /was not made by SupaSwarm/,
    );
    await Deno.writeTextFile(`${dataDir}/pgdata/PG_VERSION`, "12\n");
    await assert.rejects(
      startNativeCluster({ prefix, dataDir, port: 0 }),
      /its data has version 12/,
    );
  }));

Deno.test("a port in use is reported in one line", () =>
  withFolder(async (dataDir) => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    try {
      await assert.rejects(
        startNativeCluster({ prefix: await findNativePrefix(), dataDir, port }),
        { message: `Cannot start Postgres: port ${port} is in use` },
      );
    } finally {
      listener.close();
    }
  }));

Deno.test("other users of the machine need the password", () =>
  withFolder(async (dataDir) => {
    const cluster = await startNativeCluster({
      prefix: await findNativePrefix(),
      dataDir,
      port: 0,
    });
    const url = new URL(cluster.url);
    url.password = "guess";
    try {
      await assert.rejects(query(url.href, "select 1"), { code: "28P01" });
    } finally {
      await cluster.stop();
    }
  }));

Deno.test("a missing prefix error names the installer", async () => {
  await assert.rejects(findNativePrefix("/nonexistent"), {
    code: "CONFIG_INVALID",
    hint: "Run in a clone of SupaSwarm: deno task native:install. Elsewhere, set " +
      "SUPASWARM_NATIVE_PREFIX to the folder that it prints.",
  });
});
