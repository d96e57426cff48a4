import { join, relative, resolve } from "node:path";
import { createMcpHandler, McpServer } from "../../shared/vendor/mcp_server.js";
import { z } from "../../shared/vendor/zod.js";
import { serveLocally } from "../../stack/local_callers.ts";

/** The header that must hold the key. */
export const FILE_SERVER_KEY_HEADER = "X-API-Key";
const MAX_FILE_BYTES = 1_048_576;
const READ_ONLY = { readOnlyHint: true, idempotentHint: true, openWorldHint: false } as const;

/** An MCP server for one folder that requires an API key. */
export interface LocalFileServer {
  readonly url: string;
  readonly apiKey: string;
  stop(): Promise<void>;
}

/**
 * Serves the text files of a folder on 127.0.0.1 with the MCP tools `list_directory` and
 * `read_text_file`. Paths are relative to the folder or absolute. Symbolic links to files outside
 * of the folder are refused.
 */
export function startLocalFileServer(folder: string): LocalFileServer {
  const apiKey = `local-files-${crypto.randomUUID()}`;
  const handler = createMcpHandler(() => createFileTools(folder));
  const server = serveLocally({}, (request) => {
    if (request.headers.get(FILE_SERVER_KEY_HEADER) === apiKey) return handler.fetch(request);
    return new Response("The API key is missing or wrong", { status: 401 });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/mcp`,
    apiKey,
    stop: () => server.shutdown(),
  };
}

function createFileTools(folder: string): McpServer {
  const server = new McpServer({ name: "local-files", version: "1" });
  server.registerTool("list_directory", {
    title: "List directory",
    description: 'Lists a folder: one line per entry, "[FILE] name" or "[DIR] name".',
    inputSchema: z.object({ path: z.string().describe('Path of the folder; "." is the root') }),
    annotations: READ_ONLY,
  }, ({ path }) => answer(() => listDirectory(folder, path)));
  server.registerTool("read_text_file", {
    title: "Read text file",
    description: "Reads a text file of at most 1 MiB.",
    inputSchema: z.object({ path: z.string().describe("Path of the file") }),
    annotations: READ_ONLY,
  }, ({ path }) => answer(() => readTextFile(folder, path)));
  return server;
}

async function answer(read: () => Promise<string>) {
  try {
    return { content: [{ type: "text" as const, text: await read() }] };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { isError: true, content: [{ type: "text" as const, text }] };
  }
}

async function listDirectory(folder: string, path: string): Promise<string> {
  const lines: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(await resolveInside(folder, path))) {
    if (!name.startsWith(".")) lines.push(`${isDirectory ? "[DIR]" : "[FILE]"} ${name}`);
  }
  return lines.sort().join("\n") || "The folder is empty";
}

async function readTextFile(folder: string, path: string): Promise<string> {
  const file = await resolveInside(folder, path);
  const { size, isFile } = await Deno.stat(file);
  if (!isFile) throw new Error(`Cannot read ${path}: it is not a file`);
  if (size > MAX_FILE_BYTES) {
    throw new Error(
      `Cannot read ${path}: it has ${size} bytes, more than the limit of ${MAX_FILE_BYTES}`,
    );
  }
  return await Deno.readTextFile(file);
}

/** Returns the real path. @throws Error when it does not exist or is outside of the folder. */
async function resolveInside(folder: string, path: string): Promise<string> {
  const root = await Deno.realPath(folder);
  const isHidden = path.split(/[\\/]/).some((part) => /^\.[^.]/.test(part));
  const real = await Deno.realPath(resolve(root, path)).catch(() => null);
  const inside = real === null ? ".." : relative(root, real);
  if (
    real === null || isHidden || inside.split(/[\\/]/)[0] === ".." || join(root, inside) !== real
  ) {
    throw new Error(`Cannot find ${path}: the served folder has no such file or folder`);
  }
  return real;
}
