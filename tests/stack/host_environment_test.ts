import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { startHost } from "./host_fixture.ts";

/** A function that answers with the result or error of each of its probes. */
function probes(code: Readonly<Record<string, string>>): string {
  const entries = Object.entries(code).map(([name, body]) => `${name}: async () => { ${body} }`);
  return `const probes = { ${entries.join(",\n")} };
  Deno.serve(async () => {
    const seen = {};
    for (const [name, probe] of Object.entries(probes)) {
      try { seen[name] = (await probe()) ?? null; } catch (error) { seen[name] = error.name + ": " + error.message; }
    }
    return Response.json(seen);
  });`;
}

// The runner may have chosen a folder in /dev, where Deno lets functions read no files.
Deno.env.delete("TMPDIR");

Deno.test("a function sees only the variables of its environment, not the stack's", async () => {
  Deno.env.set("HOST_TEST_STACK_KEY", "hidden");
  await using fixture = await startHost(
    {
      env: probes({
        given: `return Deno.env.get("SUPABASE_URL");`,
        stack: `return Deno.env.get("HOST_TEST_STACK_KEY");`,
      }),
    },
    { env: { SUPABASE_URL: "http://127.0.0.1:54321" } },
  );

  const seen = await (await fixture.get("env")).json();

  Deno.env.delete("HOST_TEST_STACK_KEY");
  assert.deepEqual(seen, { given: "http://127.0.0.1:54321", stack: null });
});

Deno.test("a function can start no process and load no native library", async () => {
  await using fixture = await startHost({
    run: probes({
      command: `await new Deno.Command("true").output();`,
      node:
        `const { execSync } = await import("node:child_process"); return String(execSync("echo ran"));`,
      ffi: `Deno.dlopen("libc.so.6", {});`,
      worker: `return typeof Worker;`,
    }),
  });

  const seen = await (await fixture.get("run")).json();

  assert.match(seen.command, /Spawning subprocesses is not allowed/);
  assert.match(seen.node, /Command failed/);
  assert.match(seen.ffi, /NotCapable/);
  assert.equal(seen.worker, "undefined");
});

Deno.test("synchronous file access ends after loading, and hidden project files are inaccessible", async () => {
  await using fixture = await startHost({
    files: `const early = Deno.readTextFileSync(new URL(import.meta.url));
    const root = new URL("../../../", import.meta.url);
    ${
      probes({
        early: `return early.length > 0;`,
        sync: `Deno.readTextFileSync(new URL(import.meta.url));`,
        rename: `await Deno.rename("a", "b");`,
        own: `return (await Deno.readTextFile(new URL(import.meta.url))).length > 0;`,
        secret: `return await Deno.readTextFile(new URL(".env", root));`,
        write: `await Deno.writeTextFile(new URL("x", root), "");`,
        temporary:
          `const f = await Deno.makeTempFile(); await Deno.writeTextFile(f, "kept"); return await Deno.readTextFile(f);`,
      })
    }`,
  });
  await Deno.writeTextFile(`${fixture.projectRoot}/.env`, "KEY=1");

  const seen = await (await fixture.get("files")).json();

  assert.equal(seen.early, true);
  assert.match(seen.sync, /blocklisted/);
  assert.match(seen.rename, /blocklisted/);
  assert.equal(seen.own, true);
  assert.match(seen.secret, /NotCapable/);
  assert.match(seen.write, /NotCapable/);
  assert.equal(seen.temporary, "kept");
});

Deno.test("Deno.exit and process.exit have no effect", async () => {
  await using fixture = await startHost({
    exit: `import process from "node:process";
    Deno.serve(() => { Deno.exit(1); process.exit(1); return new Response("alive"); });`,
  });

  assert.equal(await (await fixture.get("exit")).text(), "alive");
  assert.equal(await (await fixture.get("exit")).text(), "alive");
});

Deno.test("console output becomes log lines with the function's name, with JSON merged in", async () => {
  await using fixture = await startHost({
    chatty: `Deno.serve(() => {
      console.warn("careful", { n: 1 });
      console.log(JSON.stringify({ at: "2026-01-01T00:00:00Z", level: "error", event: "e" }));
      return new Response();
    });`,
  });

  await fixture.get("chatty");

  await waitFor(() => fixture.logs.length >= 2);
  const [plain, merged] = fixture.logs;
  assert.deepEqual({ ...plain, at: "" }, {
    at: "",
    level: "warn",
    function: "chatty",
    message: "careful { n: 1 }",
  });
  assert.deepEqual(merged, {
    at: "2026-01-01T00:00:00Z",
    level: "error",
    function: "chatty",
    event: "e",
  });
});
