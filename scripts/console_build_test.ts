import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT } from "./project_root.ts";

const PROJECT = "https://abc.example.test";

/** A token as the service role of an older project has it. */
function serviceRoleToken(): string {
  const part = (value: unknown) => btoa(JSON.stringify(value)).replaceAll("=", "");
  return `${part({ alg: "HS256" })}.${part({ role: "service_role" })}.c2lnbmF0dXJl`;
}

async function runBuild(args: readonly string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", join(PROJECT_ROOT, "scripts/console_build.ts"), ...args],
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

Deno.test("console:build refuses a secret key and a URL that is none, and builds nothing", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "supaswarm-console-build-" });
  const out = join(folder, "site");
  const cases = {
    "a secret key": ["--project", PROJECT, "--key", "sb_secret_abcdefghijklmnop", "--out", out],
    "the service role's token": ["--project", PROJECT, "--key", serviceRoleToken(), "--out", out],
    "no URL": ["--project", "javascript:alert(1)", "--key", "sb_publishable_x", "--out", out],
    "no folder": ["--project", PROJECT, "--key", "sb_publishable_x"],
  };
  try {
    for (const [what, args] of Object.entries(cases)) {
      await t.step(what, async () => {
        const { code, stdout, stderr } = await runBuild(args);
        assert.equal(code, 1);
        assert.equal(stdout, "");
        assert.match(stderr, /^error: Cannot build the console: [^\n]+\n$/);
        for (const secret of args.filter((arg) => /^(sb_secret|eyJ)/.test(arg))) {
          assert.ok(!stderr.includes(secret), "the key is not repeated");
        }
        await assert.rejects(Deno.stat(out), Deno.errors.NotFound);
      });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
