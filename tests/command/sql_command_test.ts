import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { openToolDatabase } from "../gateway/tools/tool_fixture.ts";

const SCRIPT = fileURLToPath(new URL("../../scripts/sql.ts", import.meta.url));
const BLOCK =
  "-- All agents\nselect count(*)::int as agents from public.agents where slug = 'writer';";

Deno.test("deno task sql runs statements however they arrive, and prints warnings", async (t) => {
  const database = await openToolDatabase();
  const file = await Deno.makeTempFile({ suffix: ".sql" });
  await Deno.writeTextFile(file, BLOCK);
  const run = async (args: readonly string[], input?: string) => {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", SCRIPT, "--db", database.url, "--json", ...args],
      env: { NO_COLOR: "1" },
      stdin: input === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    if (input !== undefined) {
      const writer = child.stdin.getWriter();
      await writer.write(new TextEncoder().encode(input));
      await writer.close();
    }
    const { code, stdout, stderr } = await child.output();
    const decoder = new TextDecoder();
    return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  };
  try {
    for (
      const [how, args, input] of [
        ["an argument that begins with a comment", [BLOCK], undefined],
        ["a file", ["-f", file], undefined],
        ["standard input", [], BLOCK],
        ["standard input that is named", ["--file", "-"], BLOCK],
      ] as const
    ) {
      await t.step(how, async () => {
        const { code, stdout, stderr } = await run(args, input);

        assert.equal(code, 0, stderr);
        assert.deepEqual(JSON.parse(stdout).rows, [{ agents: 1 }]);
      });
    }

    await t.step("a file that does not exist is named", async () => {
      const { code, stderr } = await run(["-f", "/nowhere.sql"]);

      assert.equal(code, 1);
      assert.match(stderr, /Cannot read \/nowhere\.sql: it does not exist/);
    });

    await t.step("a tool that no user of its agent may call warns at once", async () => {
      const { stderr } = await run([`
        insert into tools (slug, name, type, config) values
          ('crm', 'CRM', 'http_api', '{"method": "GET", "url": "https://crm.example.com", "parameters": {}}');
        insert into agent_tools (agent_id, tool_id)
        select agents.id, tools.id from agents, tools where agents.slug = 'writer' and tools.slug = 'crm'`]);

      assert.match(
        stderr,
        /warning: The tool "crm" of the agent "writer" .*scope mcp:crm.*grant_scopes/,
      );
    });
  } finally {
    await Deno.remove(file);
    await database.stop();
  }
});
