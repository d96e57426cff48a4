import { z } from "../../shared/vendor/zod.js";
import { CommandError } from "../cli/run_command.ts";

/** A value that a client gives to a server: a header, a variable, an environment variable. */
const inputSchema = z.looseObject({
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  /** May contain variables: `Bearer {token}`. */
  value: z.string().optional(),
  default: z.string().optional(),
  choices: z.array(z.string()).optional(),
});
const variablesSchema = z.record(z.string(), inputSchema).optional();
const headerSchema = inputSchema.extend({ name: z.string().min(1), variables: variablesSchema });

const remoteSchema = z.looseObject({
  type: z.string(),
  url: z.string(),
  headers: z.array(headerSchema).optional(),
  variables: variablesSchema,
});
const packageSchema = z.looseObject({
  registryType: z.string(),
  identifier: z.string().min(1),
  version: z.string().optional(),
  environmentVariables: z.array(inputSchema.extend({ name: z.string() })).optional(),
});

const serverSchema = z.looseObject({
  name: z.string().min(1),
  title: z.string().optional(),
  description: z.string().optional(),
  websiteUrl: z.string().optional(),
  repository: z.looseObject({ url: z.string().optional() }).optional(),
  remotes: z.array(remoteSchema).optional(),
  packages: z.array(packageSchema).optional(),
});

const OFFICIAL = "io.modelcontextprotocol.registry/official";
const itemSchema = z.looseObject({
  server: serverSchema,
  _meta: z.looseObject({
    [OFFICIAL]: z.looseObject({ isLatest: z.boolean().optional(), status: z.string().optional() })
      .optional(),
  }).optional(),
});

/** A server description of the public MCP registry (`server.json`). */
export type RegistryServer = z.infer<typeof serverSchema>;
/** See {@linkcode RegistryServer}. */
export type RegistryRemote = z.infer<typeof remoteSchema>;
/** See {@linkcode RegistryServer}. */
export type RegistryPackage = z.infer<typeof packageSchema>;
/** See {@linkcode RegistryServer}. */
export type RegistryInput = z.infer<typeof inputSchema>;

/** A server of a document, with its status in the registry. */
export interface RegistryEntry {
  readonly server: RegistryServer;
  /** `active`, `deprecated` or `deleted`; null when the document has no status. */
  readonly status: string | null;
}

/**
 * Parses a `server.json`, or a response of a registry's API for one server, its versions or a
 * search.
 *
 * @param name The server, if the document has several.
 * @throws CommandError with the problem, or with the servers of the document.
 */
export function readRegistryDocument(text: string, name: string | undefined): RegistryEntry {
  const entries = entriesOf(parseJson(text));
  const meant = entries.filter(({ server }) => name === undefined || server.name === name);
  const names = [...new Set(meant.map(({ server }) => server.name))];
  const [only] = names;
  if (only === undefined) {
    const all = [...new Set(entries.map(({ server }) => server.name))].join(", ");
    throw new CommandError(`The document has no server '${name ?? ""}'; it has: ${all || "none"}`);
  }
  if (names.length > 1) {
    throw new CommandError(
      `Cannot import: pass one of its servers with --server: ${names.join(", ")}`,
    );
  }
  const latest = meant.find(({ isLatest }) => isLatest) ?? meant.at(-1) ?? meant[0];
  if (latest === undefined) throw new CommandError("Cannot import: the document has no server");
  return latest;
}

function parseJson(text: string): unknown {
  try {
    // Remove control characters, because untrusted text is written to a terminal.
    return JSON.parse(text, (_key, value) =>
      // deno-lint-ignore no-control-regex -- the pattern searches for control characters
      typeof value === "string" ? value.replace(/[\x00-\x1f\x7f-\x9f]+/g, " ") : value);
  } catch (cause) {
    throw new CommandError("Cannot read the description: it is not valid JSON", { cause });
  }
}

function entriesOf(document: unknown): (RegistryEntry & { readonly isLatest: boolean })[] {
  const isObject = typeof document === "object" && document !== null;
  const items = isObject && "servers" in document && Array.isArray(document.servers)
    ? document.servers as unknown[]
    : [document];
  return items.map((item, index) => {
    const isWrapped = typeof item === "object" && item !== null && "server" in item;
    const parsed = itemSchema.safeParse(isWrapped ? item : { server: item });
    if (!parsed.success) throw invalid(index, parsed.error);
    const official = parsed.data._meta?.[OFFICIAL];
    return {
      server: parsed.data.server,
      status: official?.status ?? null,
      isLatest: official?.isLatest === true,
    };
  });
}

function invalid(index: number, { issues }: z.ZodError): CommandError {
  const list = issues.slice(0, 5).map(({ path, message }) =>
    `${path.slice(1).join(".")}: ${message}`
  );
  return new CommandError(
    `Cannot read server ${index + 1} of the description as a server.json of 2025-09 or later ` +
      `(${list.join("; ")})`,
  );
}
