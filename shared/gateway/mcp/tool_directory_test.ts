import assert from "node:assert/strict";
import type { ListedTool, ServerSummary, ServerTools } from "../tool_contracts/server_tools.ts";
import type { ToolGateway } from "../tool_contracts/tool_gateway.ts";
import { createToolDirectory } from "./tool_directory.ts";

const HONEST = "mail__team";
const OTHER = "mail";

Deno.test("a server's tool does not replace one of a server with a longer name", async () => {
  const directory = directoryOf({ [OTHER]: ["team__send", "read"], [HONEST]: ["send"] });

  const listed = (await directory.list()).map(({ wireName, server }) => [wireName, server.slug]);
  assert.deepEqual(listed, [["mail__read", OTHER], ["mail__team__send", HONEST]]);
  for (const find of [directory.find, directory.prepare]) {
    assert.equal(serverOf(await find("mail__team__send")), HONEST);
    assert.equal(serverOf(await find("mail__read")), OTHER);
  }
});

Deno.test("a quarantined tool is not looked up at another server", async () => {
  const directory = directoryOf({ [OTHER]: ["team__send"], [HONEST]: [] }, ["send"]);

  for (const find of [directory.find, directory.prepare]) {
    assert.deepEqual(await find("mail__team__send"), {
      kind: "unlisted",
      server: HONEST,
      toolName: "send",
    });
  }
});

Deno.test("a name that only one server has is found there, however it can be split", async () => {
  const directory = directoryOf({ [OTHER]: ["team__send"], [HONEST]: ["read"] });

  assert.equal(serverOf(await directory.prepare("mail__team__send")), OTHER);
});

type Directory = ReturnType<typeof createToolDirectory>;

function serverOf(found: Awaited<ReturnType<Directory["find"]>>): string | null {
  return found.kind === "tool" ? found.server : null;
}

function directoryOf(
  names: Readonly<Record<string, readonly string[]>>,
  heldByHonest: readonly string[] = [],
): Directory {
  const answers = Object.entries(names).map(([slug, tools]): ServerTools =>
    ({
      server: { slug } as ServerSummary,
      tools: tools.map((name) =>
        ({ name, version: null, missingScopes: [] }) as unknown as ListedTool
      ),
      quarantined: slug === HONEST ? heldByHonest.map((name) => ({ name })) : [],
      forbidden: [],
    }) as unknown as ServerTools
  );
  const answerOf = (slug: string) => answers.find(({ server }) => server.slug === slug);
  const gateway = {
    listServers: () => Promise.resolve(answers.map(({ server }) => server)),
    listServerTools: (slug: string) => Promise.resolve(answerOf(slug)),
    prepare: ({ server, toolName }: { server: string; toolName: string }) => {
      const tool = answerOf(server)?.tools.find(({ name }) => name === toolName);
      return Promise.resolve(tool === undefined ? null : { tool });
    },
  } as unknown as ToolGateway;
  return createToolDirectory({
    gateway,
    caller: {} as never,
    server: null,
    signal: new AbortController().signal,
    log: () => {},
  });
}
