import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { manifestProblem } from "./check_manifest.ts";

const HASH = "a".repeat(64);
const MIGRATION = "supabase/migrations/20261125000000_supaswarm_0_1_0.sql";
const MANIFEST = {
  version: "0.1.0",
  schema: "supaswarm",
  functions: { mcp: "supaswarm-mcp", "supaswarm-worker": "supaswarm-worker" },
  migrations: [MIGRATION],
  files: {
    [MIGRATION]: HASH,
    "supabase/functions/supaswarm-mcp/index.ts": HASH,
    "supabase/functions/supaswarm-worker/deno.json": HASH,
    "supabase/functions/_supaswarm/chunks/shared.js": HASH,
  },
  starter: { "agents/writer.md": HASH, "agents/writer.script.yaml": HASH },
  configPatch: null,
  configHash: HASH,
};

Deno.test("a manifest that an installation has written has no problem", async () => {
  const folder = fileURLToPath(new URL("../../../supabase/functions", import.meta.url));
  const names = (await Array.fromAsync(Deno.readDir(folder))).filter((entry) =>
    entry.isDirectory && !entry.name.startsWith("_")
  ).map(({ name }) => name);
  const functions = Object.fromEntries(names.map((name) => [name, name]));

  assert.ok(names.length > 5);
  assert.equal(
    manifestProblem({ ...MANIFEST, functions: { ...functions, ...MANIFEST.functions } }),
    null,
  );
  assert.equal(manifestProblem(MANIFEST), null);
});

Deno.test("a manifest names only files that an installation writes", () => {
  for (
    const path of [
      "../outside.txt",
      "supabase/functions/_supaswarm/../../../outside.txt",
      "supabase/functions/_supaswarm/..",
      "/etc/passwd",
      "supabase/config.toml",
      "supabase/functions/pay/index.ts",
      "supabase/functions/supaswarm-mcp/own.ts",
      "supabase/migrations/20260101000000_own.sql",
      "src/main.ts",
      ".env",
    ]
  ) {
    const problem = manifestProblem({ ...MANIFEST, files: { ...MANIFEST.files, [path]: HASH } });
    assert.equal(problem, `files has ${path}, which no installation writes`);
    assert.match(manifestProblem({ ...MANIFEST, starter: { [path]: HASH } }) ?? "", /^starter has/);
    assert.match(manifestProblem({ ...MANIFEST, migrations: [path] }) ?? "", /^migrations has/);
  }
});

Deno.test("a schema is one of a release, and a function has the name that an installation chose", () => {
  for (const schema of ["auth", "auth, public", "storage", null, { a: 1 }, ""]) {
    assert.match(
      manifestProblem({ ...MANIFEST, schema }) ?? "",
      /^schema .* is not one of SupaSwarm/,
    );
  }
  for (const functions of [{ mcp: "pay" }, { pay: "pay" }, { mcp: null }, { mcp: "../x" }]) {
    assert.match(manifestProblem({ ...MANIFEST, functions }) ?? "", /no installation chooses/);
  }
});

Deno.test("a value of another kind is no manifest, and the problem does not quote it", () => {
  const secret = "s3cret".repeat(100);
  for (
    const value of [
      null,
      [],
      "text",
      { secret },
      { ...MANIFEST, version: secret },
      { ...MANIFEST, schema: secret },
      { ...MANIFEST, files: [secret] },
      { ...MANIFEST, files: { [MIGRATION]: secret } },
      { ...MANIFEST, migrations: { secret } },
      { ...MANIFEST, migrations: [{ secret }] },
      { ...MANIFEST, functions: { mcp: secret } },
    ]
  ) {
    const problem = manifestProblem(value);
    assert.ok(
      problem !== null && problem.length < 300 && !problem.includes(secret),
      String(problem),
    );
  }
});
