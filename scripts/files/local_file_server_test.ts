import assert from "node:assert/strict";
import { join } from "node:path";
import { z } from "../../shared/vendor/zod.js";
import {
  FILE_SERVER_KEY_HEADER,
  type LocalFileServer,
  startLocalFileServer,
} from "./local_file_server.ts";

const answerSchema = z.object({
  result: z.object({
    isError: z.boolean().optional(),
    content: z.array(z.object({ text: z.string() })),
  }),
});

/** A folder with a file, next to a secret that a link inside the folder points to. */
async function makeFolder(): Promise<string> {
  const parent = await Deno.makeTempDir({ prefix: "supaswarm-files-test-" });
  const folder = join(parent, "notes");
  await Deno.mkdir(join(folder, "old"), { recursive: true });
  await Deno.writeTextFile(join(parent, "secret.md"), "canary");
  await Deno.writeTextFile(join(folder, "a.md"), "# A");
  await Deno.writeTextFile(join(folder, ".env"), "canary");
  await Deno.symlink(join(parent, "secret.md"), join(folder, "link.md"));
  return folder;
}

async function callTool(server: LocalFileServer, name: string, path: string) {
  const response = await fetch(server.url, {
    method: "POST",
    headers: {
      [FILE_SERVER_KEY_HEADER]: server.apiKey,
      "content-type": "application/json",
      "accept": "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name,
        arguments: { path },
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
  });
  const body = await response.text();
  const json = body.startsWith("{") ? body : /^data: (.+)$/m.exec(body)?.[1] ?? body;
  const { result } = answerSchema.parse(JSON.parse(json));
  return { isError: result.isError ?? false, text: result.content[0]?.text };
}

Deno.test("the local file server lists and reads by relative and absolute path", async () => {
  const folder = await makeFolder();
  const server = startLocalFileServer(folder);
  try {
    assert.deepEqual(await callTool(server, "list_directory", "."), {
      isError: false,
      text: "[DIR] old\n[FILE] a.md\n[FILE] link.md",
    });
    for (const path of ["./a.md", join(folder, "a.md")]) {
      assert.equal((await callTool(server, "read_text_file", path)).text, "# A");
    }
  } finally {
    await server.stop();
    await Deno.remove(join(folder, ".."), { recursive: true });
  }
});

Deno.test("the local file server refuses paths and links outside its folder, and hidden files", async () => {
  const folder = await makeFolder();
  const server = startLocalFileServer(folder);
  try {
    const paths = [
      "../secret.md",
      "/etc/passwd",
      "link.md",
      ".env",
      "old/../../secret.md",
      "none.md",
    ];
    for (const path of paths) {
      const { isError, text } = await callTool(server, "read_text_file", path);
      assert.ok(isError && text?.startsWith("Cannot find"), `${path}: ${text}`);
    }
  } finally {
    await server.stop();
    await Deno.remove(join(folder, ".."), { recursive: true });
  }
});

Deno.test("the local file server returns 401 without its key", async () => {
  const folder = await makeFolder();
  const server = startLocalFileServer(folder);
  try {
    const response = await fetch(server.url, { method: "POST", body: "{}" });
    await response.body?.cancel();
    assert.equal(response.status, 401);
  } finally {
    await server.stop();
    await Deno.remove(join(folder, ".."), { recursive: true });
  }
});
