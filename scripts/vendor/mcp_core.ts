import { join } from "node:path";
import type { EsbuildPlugin } from "../deps.ts";
import { withClassNames } from "./class_names.ts";

/** A top-level declaration of a package's file. */
interface Declaration {
  readonly name: string;
  readonly source: string;
}

const CORE_FILE = /^src-.+\.mjs$/;
/** From a declaration to the next line without indentation that starts something else. */
const DECLARATION =
  /^(?:async )?(?:function\*?|const|let|var|class) ([\w$]+)[^]*?(?=^(?:(?:async|function|const|let|var|class|for|export)\b|\/\*\*|\/\/#))/gm;
const EXPORTS = /^export \{ (.+) \};$/m;

/**
 * Lets the MCP SDK's client and server share one copy of the protocol. Each package contains its
 * own, from the same sources, without the declarations that only the other one uses. The server's
 * copy gets those of the client; the client's copy then only exports from it.
 *
 * @param installFolder Folder in which both packages are installed.
 */
export function sharedMcpCore(installFolder: string): EsbuildPlugin {
  return {
    name: "shared MCP core",
    async setup(build) {
      const client = await findCore(installFolder, "client");
      const server = await findCore(installFolder, "server");
      const merged = mergeCores(
        { path: client, source: await Deno.readTextFile(client) },
        { path: server, source: await Deno.readTextFile(server) },
      );
      build.onLoad({ filter: /\/dist\/src-.+\.mjs$/ }, ({ path }) => {
        if (path === client) return { contents: withClassNames(merged.client) };
        return path === server
          ? { contents: withClassNames(withLazySchemas(merged.server)) }
          : undefined;
      });
      build.onLoad({ filter: /\/core\/dist\/(?:auth|schemas)-.+\.mjs$/ }, async ({ path }) => ({
        contents: withLazySchemas(await Deno.readTextFile(path)),
      }));
    },
  };
}

async function findCore(installFolder: string, side: "client" | "server"): Promise<string> {
  const folder = join(installFolder, "node_modules/@modelcontextprotocol", side, "dist");
  const files = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name)
    .filter((name) => CORE_FILE.test(name));
  if (files.length !== 1) {
    throw new Error(
      `Cannot share the MCP core: ${folder} has ${files.length} files like ${CORE_FILE}, not 1`,
    );
  }
  return await Deno.realPath(join(folder, files.join()));
}

/** A package's copy of the protocol. */
export interface McpCore {
  readonly path: string;
  readonly source: string;
}

/**
 * Returns the new sources of both copies.
 *
 * @throws Error when a declaration that both have differs.
 */
export function mergeCores(
  client: McpCore,
  server: McpCore,
): { readonly client: string; readonly server: string } {
  const known = new Map(declarationsOf(server).map(({ name, source }) => [name, source]));
  const missing: string[] = [];
  for (const { name, source } of declarationsOf(client)) {
    const other = known.get(name);
    if (other === undefined) missing.push(source);
    else if (withoutNumbers(other) !== withoutNumbers(source)) {
      throw new Error(`Cannot share the MCP core: ${name} differs in ${client.path}`);
    }
  }
  const [, exports = ""] = EXPORTS.exec(client.source) ?? [];
  const names = exports.split(", ").map((name) => name.split(" as ")[0]);
  return {
    client: `export { ${exports} } from ${JSON.stringify(server.path)};\n`,
    server: `${server.source}\n${missing.join("\n")}\nexport { ${names.join(", ")} };\n`,
  };
}

function declarationsOf({ source }: McpCore): Declaration[] {
  return [...source.matchAll(DECLARATION)]
    .map(([text, name = ""]) => ({ name, source: text.trim() }));
}

/** Where several files of a package declare a name, its bundler numbers them. */
function withoutNumbers(source: string): string {
  return source.replaceAll(/\$\d+\b/g, "");
}

/** A schema, or a set of its names, at the top level or in the function that makes a version's. */
const SCHEMA =
  /^(\t?)const ([A-Z]\w*Schema(?:\$\d+)?|ROOT_KEYS|SUPPORTED_STRING_FORMATS) = ([^]+?);\n(?=\n|\1(?:const|let|return|function|export|\/))/gm;
/** A function that returns one. */
const SCHEMA_MAKER =
  /^(\t?)(function (?:wire\w+|dispatch\w+|shapeKeys)\(.*\) \{\n\1\treturn )([^]+?);\n\1\}/gm;

/** Stands for a schema until something reads from it. */
const LAZY_SCHEMA = `
function lazySchema(make) {
  let schema;
  const made = () => schema ??= make();
  return new Proxy({}, {
    get(_, name) {
      const value = made()[name];
      return typeof value === "function" ? value.bind(made()) : value;
    },
    has: (_, name) => name in made(),
  });
}
`;

/**
 * Makes each schema when it is first used. The protocol has hundreds of them; making all takes most
 * of the time of an import, and a call uses ten.
 *
 * @throws Error when the source declares no schema in the expected form.
 */
export function withLazySchemas(source: string): string {
  if (source.search(SCHEMA) < 0) throw new Error("Cannot find the schemas of the MCP core");
  return source
    .replaceAll(SCHEMA, "$1const $2 = lazySchema(() => $3);\n")
    .replaceAll(SCHEMA_MAKER, "$1$2lazySchema(() => $3);\n$1}") + LAZY_SCHEMA;
}
