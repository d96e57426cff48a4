import assert from "node:assert/strict";
import { get } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { consolePort } from "../../scripts/console/console_port.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { fillDataFolder } from "../e2e/migrated_folder.ts";
import { freePorts } from "../stack/free_ports.ts";
import { areGone, descendants } from "../stack/process_tree.ts";
import { type ReadyLine, runStart, type StartEnd } from "../stack/start_process.ts";

const EPHEMERAL = ["--ephemeral", "--json", "--port", String(freePorts())];

function assertExplained({ code, stdout, stderr }: StartEnd, says: RegExp): void {
  assert.equal(code, 1);
  assert.equal(stdout, "");
  assert.match(stderr, /^error: [^\n]+\n([^\n]+\n)?$/);
  assert.match(stderr, says);
}

function portsOf({ api_url, console_url, other_ports }: ReadyLine): readonly string[] {
  const others = other_ports.map(({ url }) => url);
  return console_url === null ? [api_url, ...others] : [api_url, console_url, ...others];
}

/** Sends a request with headers that `fetch` would correct. */
function statusOf(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { headers }, (answer) => {
      answer.destroy();
      resolve(answer.statusCode ?? 0);
    }).on("error", reject);
  });
}

Deno.test("start --json prints one line, serves API and console, and SIGTERM to its pid leaves no process", async () => {
  await using start = runStart(EPHEMERAL, { stdin: "null" });
  const ready = await start.ready;
  const children = await descendants(ready.pid);

  const answer = await fetch(`${ready.api_url}/rest/v1/agents?select=slug`, {
    headers: { apikey: ready.secret_key },
  });
  await answer.body?.cancel();
  const config = await (await fetch(`${ready.console_url}/config.json`)).json();
  const statuses = await Promise.all(
    portsOf(ready).flatMap((url) => [
      statusOf(url, { origin: "https://page.test" }),
      statusOf(url, { host: "rebound.test" }),
    ]),
  );
  Deno.kill(ready.pid, "SIGTERM");
  const { code, stdout } = await start.ended;

  assert.equal(answer.status, 200);
  assert.equal(ready.ready, true);
  assert.match(ready.db_url, /^postgres(ql)?:\/\//);
  assert.ok(ready.functions.includes("supaswarm-create-task"));
  assert.equal(ready.console_url, `http://127.0.0.1:${Number(new URL(ready.api_url).port) + 2}`);
  assert.deepEqual(config, { api_url: ready.api_url, publishable_key: ready.publishable_key });
  assert.deepEqual(new Set(statuses), new Set([403]), "a page of another site reaches no port");
  assert.equal(portsOf(ready).length, 5, "API, console, models, embeddings and files");
  assert.equal(stdout.trim().split("\n").length, 1);
  assert.equal(code, 0);
  assert.ok(children.length >= 2, "the database and the functions run in separate processes");
  assert.ok(await areGone(children));
});

Deno.test("start --no-console leaves the port of the console closed, and ends with its piped stdin", async () => {
  await using start = runStart([...EPHEMERAL, "--no-console"]);
  const ready = await start.ready;
  const children = await descendants(ready.pid);
  assert.equal(ready.console_url, null);
  await assert.rejects(
    Deno.connect({ hostname: "127.0.0.1", port: consolePort(ready.api_url) }),
    Deno.errors.ConnectionRefused,
  );

  await start.closeStdin();

  assert.equal((await start.ended).code, 0);
  assert.ok(await areGone(children));
});

Deno.test("a folder or a port in use is explained, and SIGKILL loses no data", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "supaswarm-start-test-" });
  await fillDataFolder(dataDir);
  const kept = { env: { SUPASWARM_DATA_DIR: dataDir } };
  await using first = runStart(["--json", "--port", "0"], kept);
  const ready = await first.ready;
  const children = await descendants(ready.pid);
  const agents = (apiUrl: string, init: RequestInit = {}) =>
    fetch(`${apiUrl}/rest/v1/agents?slug=eq.kept&select=slug`, {
      headers: { apikey: ready.secret_key, "content-type": "application/json" },
      ...init,
    });

  await using second = runStart(["--json", "--port", "0"], kept);
  assertExplained(await second.ended, new RegExp(`in use.*${ready.pid}`));
  const { port } = new URL(ready.api_url);
  await using third = runStart(["--ephemeral", "--port", port]);
  assertExplained(await third.ended, /port \d+.*in use/);

  await using fourth = runStart(["--ephemeral", "--port", port], kept);
  assertExplained(
    await fourth.ended,
    new RegExp(`this project's own stack already runs at ${ready.api_url}\\. Use it`),
  );

  const body = JSON.stringify({ slug: "kept", name: "Kept", system_prompt: "Be kept." });
  assert.equal((await agents(ready.api_url, { method: "POST", body })).status, 201);
  first.kill("SIGKILL");
  await first.ended;
  await waitFor(() => areGone(children), { what: "the children of the killed stack to end" });
  await using again = runStart(["--json", "--port", "0"], kept);
  const after = await again.ready;

  assert.equal(after.secret_key, ready.secret_key);
  assert.deepEqual(await (await agents(after.api_url)).json(), [{ slug: "kept" }]);

  const rows = await runSql(["--json", "select slug from agents where slug = 'kept'"], kept);
  assert.deepEqual(JSON.parse(rows.stdout).rows, [{ slug: "kept" }]);
  await runSql([
    "update supabase_migrations.schema_migrations set statements = '{}' where name = 'supaswarm_0_1_0'",
  ], kept);
  again.kill("SIGTERM");
  await again.ended;
  const stopped = await runSql(["select 1"], kept);
  assert.equal(stopped.code, 1);
  assert.match(stopped.stderr, /no stack is running.*deno task start/s);

  await using outdated = runStart(["--json", "--port", "0"], kept);
  assertExplained(
    await outdated.ended,
    /_supaswarm_0_1_0\.sql changed after it was applied.*--reset/s,
  );
  await using reset = runStart(["--json", "--port", "0", "--reset"], kept);
  const fresh = await reset.ready;
  assert.deepEqual(await (await agents(fresh.api_url)).json(), []);
  assert.equal(fresh.secret_key, ready.secret_key);
  reset.kill("SIGTERM");
  await reset.ended;
  await Deno.remove(dataDir, { recursive: true });
});

async function runSql(args: readonly string[], { env }: { readonly env: Record<string, string> }) {
  const script = fileURLToPath(new URL("../../scripts/sql.ts", import.meta.url));
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", script, ...args],
    env,
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

Deno.test("an invalid setting or data folder is refused before the start, naming its variable", async () => {
  const cases = [
    { SUPASWARM_LEASE_SECONDS: "soon" },
    { SUPASWARM_FILES_DIR: "/nowhere" },
    { OLLAMA_HOST: "ftp://x" },
  ];
  for (const env of cases) {
    await using start = runStart(EPHEMERAL, { env });
    assertExplained(await start.ended, new RegExp(Object.keys(env)[0] ?? ""));
  }
  await using unwritable = runStart(["--json", "--port", "0"], {
    // Nobody can create a folder in a file.
    env: { SUPASWARM_DATA_DIR: join(import.meta.filename ?? "", "data") },
  });
  assertExplained(await unwritable.ended, /SUPASWARM_DATA_DIR/);
});

Deno.test("unusable arguments are explained", async () => {
  await using unknownFlag = runStart(["--nonsense"]);
  await using badPort = runStart(["--port", "high"]);

  const refused = await unknownFlag.ended;
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /^error: [^\n]*--nonsense[^\n]*\n$/);
  assertExplained(await badPort.ended, /--port high/);
});
