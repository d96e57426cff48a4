import assert from "node:assert/strict";
import { join } from "node:path";
import { runScript } from "../../run_script.ts";

const NOTES = {
  name: "com.example/notes",
  title: "Notes",
  remotes: [{
    type: "streamable-http",
    url: "https://notes.example.com/mcp",
    headers: [{ name: "X-API-Key", isSecret: true, isRequired: true }],
  }],
};
const LOCAL = {
  name: "com.example/local",
  packages: [{ registryType: "npm", identifier: "@example/local", version: "1.0.0" }],
};

Deno.test("mcps:import", async (t) => {
  const folder = await Deno.makeTempDir();
  const list = join(folder, "external-mcps.yaml");
  await Deno.writeTextFile(list, "# Ours\nmcps:\n");
  await using registry = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/notes") return Response.json({ server: NOTES });
      if (pathname === "/local") return Response.json({ server: LOCAL });
      return new Response("none", { status: 404 });
    },
  );
  const address = `http://127.0.0.1:${registry.addr.port}`;

  await t.step("prints the entry, and the next steps on stderr", async () => {
    const { code, stdout, stderr } = await run(`${address}/notes`);

    assert.equal(code, 0);
    assert.match(stdout, /^mcps:\n {2}notes:\n {4}name: Notes\n/);
    assert.match(stderr, /NOTES_MCP_API_KEY to \.env/);
  });

  await t.step("adds the entry to the file only once", async () => {
    const first = await run(`${address}/notes`, "--write", "--json", "--file", list);
    const second = await run(`${address}/notes`, "--write", "--file", list);

    assert.deepEqual([first.code, second.code], [0, 1]);
    const { slug, written } = JSON.parse(first.stdout);
    assert.deepEqual([slug, written], ["notes", true]);
    assert.match(second.stderr, /already has this entry\. Pass another key with --slug/);
    assert.match(await Deno.readTextFile(list), /^# Ours\nmcps:\n {2}notes:\n/);
  });

  await t.step("explains how to bridge a package-only server, and fails", async () => {
    const { code, stdout, stderr } = await run(`${address}/local`);

    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /mcp-proxy --host 127\.0\.0\.1 .* -- npx -y @example\/local@1\.0\.0/);
  });

  await t.step("explains why a description is not available", async () => {
    const { code, stderr } = await run(`${address}/none`);

    assert.equal(code, 1);
    assert.match(stderr, /answers HTTP 404/);
  });

  await Deno.remove(folder, { recursive: true });
});

function run(...args: readonly string[]) {
  return runScript("scripts/mcps_import.ts", args);
}
