import assert from "node:assert/strict";
import { freePorts } from "../stack/free_ports.ts";
import { runStart } from "../stack/start_process.ts";

Deno.test("start for a person prints no address of a console that is left out", async () => {
  await using start = runStart(["--ephemeral", "--port", "0", "--no-console"]);
  await start.printed;
  await start.closeStdin();

  const { stdout } = await start.ended;
  assert.match(stdout, /SupaSwarm is ready/);
  assert.match(stdout, /^ {2}API /m);
  assert.doesNotMatch(stdout, /^ {2}Console/m);
});

Deno.test("start on a console port that is taken says so and serves everything else", async () => {
  const port = freePorts();
  using taken = Deno.listen({ hostname: "127.0.0.1", port: port + 2 });
  await using start = runStart(["--ephemeral", "--json", "--port", String(port)]);
  const { api_url: apiUrl, console_url: consoleUrl, secret_key: key } = await start.ready;

  const answer = await fetch(`${apiUrl}/rest/v1/agents?select=slug&limit=1`, {
    headers: { apikey: key },
  });
  await answer.body?.cancel();
  await start.closeStdin();
  const { code, stderr } = await start.ended;

  assert.equal(consoleUrl, null);
  assert.equal(answer.status, 200);
  assert.match(stderr, new RegExp(`Cannot serve the console: port ${taken.addr.port} is in use`));
  assert.equal(code, 0);
});
