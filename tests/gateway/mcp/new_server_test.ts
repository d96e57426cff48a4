import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT } from "../../../scripts/project_root.ts";
import { copyProject } from "../../e2e/project_copy.ts";
import { bootMcpPlatform } from "./mcp_platform.ts";

const SERVER = `
import { z } from "../../vendor/zod.js";
import { defineTool, type InternalServer } from "../../gateway/tool_contracts/internal_server.ts";

const shout = defineTool({
  name: "shout",
  title: "Shout",
  description: "Says it louder.",
  version: "1",
  scopes: [],
  annotations: { readOnlyHint: true },
  input: z.strictObject({ text: z.string() }),
  output: z.object({ text: z.string() }),
  run: ({ text }) => Promise.resolve({ text: text.toUpperCase() + "!" }),
});

/** Shouts. */
export const loudVoiceServer: InternalServer = {
  name: "loud-voice",
  title: "Loud voice",
  description: "Shouts.",
  tools: [shout],
};
`;

Deno.test("a new server is one folder", async () => {
  await using copy = await copyProject({});
  const folder = join(copy.root, "shared/servers/loud-voice");
  await Deno.mkdir(folder);
  await Deno.writeTextFile(join(folder, "server.ts"), SERVER);
  await copyGenerator(copy.root);
  assert.equal(
    (await generate(copy.root, "--check")).success,
    false,
    "the check reports the new server",
  );
  const generated = await generate(copy.root);
  assert.ok(generated.success, new TextDecoder().decode(generated.stderr));
  assert.ok((await generate(copy.root, "--check")).success);
  await using platform = await bootMcpPlatform({ db: "pglite", projectRoot: copy.root });
  const { send } = await platform.addUser("ada");

  // Concurrent runs: both register the server.
  const [one, two] = await Promise.all(["/loud-voice", ""].map((path) =>
    send({
      path,
      method: "tools/call",
      params: {
        name: path === "" ? "loud-voice__shout" : "shout",
        arguments: { text: "hello" },
      },
    })
  ));

  for (const answer of [one, two]) {
    assert.deepEqual(answer?.last.result?.structuredContent, { text: "HELLO!" });
  }
  const rows = await platform.sql`
    select name, type, description from public.tools where slug = 'loud-voice'`;
  assert.deepEqual(rows.map((row) => ({ ...row })), [
    { name: "Loud voice", type: "internal", description: "Shouts." },
  ]);
});

const GENERATOR = "scripts/generate_internal_servers.ts";

async function copyGenerator(root: string): Promise<void> {
  await Deno.mkdir(join(root, "scripts"));
  await Deno.copyFile(join(PROJECT_ROOT, GENERATOR), join(root, GENERATOR));
}

async function generate(root: string, ...args: string[]): Promise<Deno.CommandOutput> {
  return await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", GENERATOR, ...args],
    cwd: root,
  }).output();
}
