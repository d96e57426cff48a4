import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT } from "./project_root.ts";

const ADVISORY = {
  id: 1,
  url: "https://advisories.example.com/1",
  title: "Statements can be joined",
  severity: "high",
  vulnerable_versions: "<99.0.0",
};

async function audit(registry: string) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", join(PROJECT_ROOT, "scripts/audit.ts")],
    env: { NO_COLOR: "1", NPM_CONFIG_REGISTRY: registry },
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

Deno.test("audit asks for every locked package, and names advisories or why it cannot", async (t) => {
  const asked = new Set<string>();
  let known: Record<string, readonly (typeof ADVISORY)[]> = {};
  let serves = true;
  await using registry = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      for (const name of Object.keys(await request.json())) asked.add(name);
      return serves ? Response.json(known) : new Response(null, { status: 405 });
    },
  );
  const url = `http://127.0.0.1:${registry.addr.port}/`;

  await t.step("none", async () => {
    const { code, stdout } = await audit(url);
    assert.equal(code, 0);
    assert.match(stdout, /ok tests\/deno\.lock\n.*\nok console\/deno\.lock/);
    for (const name of ["postgres", "hono", "vue"]) assert.ok(asked.has(name), name);
  });

  await t.step("one", async () => {
    known = { postgres: [ADVISORY] };
    const { code, stdout } = await audit(url);
    assert.equal(code, 1);
    assert.match(stdout, /failed tests\/deno\.lock/);
    assert.match(stdout, /Statements can be joined[^]*high[^]*advisories\.example\.com\/1/);
  });

  await t.step("a registry without advisories", async () => {
    serves = false;
    const { code, stdout, stderr } = await audit(url);
    assert.equal(code, 2);
    assert.equal(stdout, "");
    assert.match(
      stderr,
      /Cannot look up the packages of tests\/deno\.lock: .*NPM_CONFIG_REGISTRY/s,
    );
  });
});
