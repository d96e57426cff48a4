import { z } from "../../vendor/zod.js";
import type { CLOSED_SETS } from "../../platform/db/closed_sets.ts";
import { describeIssues } from "../../platform/values/describe_issues.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { jsonObject, jsonValue } from "../../platform/values/json_schema.ts";

/** The place of a credential in a request. */
export type AuthPlacement = z.infer<typeof authSchema>;

const authSchema = z.strictObject({
  in: z.enum(["header", "query"]),
  name: z.string().min(1),
  /** Precedes the credential, including the space: `"Bearer "`. */
  prefix: z.string().optional(),
});

/** Timeout of a call; the maximum is the time an edge function can wait. */
const timeoutSchema = z.int().min(1).max(600_000).optional();

/** The value of a header or query entry: literal, or a Vault secret that is read at each call. */
const valueSchema = z.union([
  z.string(),
  z.strictObject({
    /** Its name in Vault. */
    secret: z.string().min(1),
    /** Precedes the secret. */
    prefix: z.string().optional(),
  }),
]);

const httpUrlSchema = z.string().regex(/^https?:\/\/[^/{}?#]+/, "must be an http(s) URL");

/** The authority of a URL: everything before the path, the query or the fragment. */
function authorityOf(url: string): string {
  return /^https?:\/\/([^/?#\\]*)/.exec(url)?.[1] ?? "";
}

/** The OAuth client that an operator registered manually with the authorization server. */
const oauthSchema = z.strictObject({
  /** @default this project registers dynamically */
  client_id: z.string().min(1).optional(),
  client_secret: z.strictObject({
    /** Its name in Vault. */
    secret: z.string().min(1),
  }).optional(),
  /**
   * The authorization server that the client is registered with.
   * @default the first that the tool server names
   */
  issuer: httpUrlSchema.optional(),
  /** Scopes to request, separated by spaces. @default those that the server lists */
  scope: z.string().min(1).optional(),
}).refine(
  ({ client_id, client_secret }) => client_secret === undefined || client_id !== undefined,
  { message: "client_secret needs a client_id", path: ["client_id"] },
);

/** `config` of a tool of type `mcp_server`. */
export type McpServerConfig = z.infer<typeof mcpServerSchema>;
/** See {@linkcode McpServerConfig}. */
export const mcpServerSchema = z.strictObject({
  mcp_url: httpUrlSchema,
  auth: authSchema.optional(),
  /** How users connect to it with their own accounts. @default discovered from the server */
  oauth: oauthSchema.optional(),
  headers: z.record(z.string(), valueSchema).optional(),
  query: z.record(z.string(), valueSchema).optional(),
  /**
   * Names of the tools that are offered and called; others are ignored.
   * @default all
   */
  allowed_tools: z.array(z.string().min(1)).optional(),
  docs_url: httpUrlSchema.optional(),
  /** The operator's description of the server. */
  capabilities: z.array(z.string().min(1)).optional(),
  /**
   * Whether the server's read-only and idempotent hints decide if a call is repeated after a lost
   * answer.
   */
  trust_annotations: z.boolean().optional().meta({ default: true }),
  /**
   * `hold`: a tool that appears after the first list waits for `approve_tool_definition()`.
   * @default "hold"
   */
  new_tools: z.enum(["approve", "hold"]).optional(),
  /** The server's definitions need no approval, even after a change. */
  trusted: z.boolean().optional().meta({ default: false }),
  timeout_ms: timeoutSchema,
});

/**
 * `config` of a tool of type `http_api`. `{name}` in `url` (in the host only with `allowed_hosts`),
 * `query`, `headers` and `body` stands for an argument; a query entry, header or body member whose
 * argument is absent is omitted. Arguments without a placeholder go to the query of a GET, HEAD or
 * DELETE without `query`, and to the body of other methods without `body`: a form if `content-type`
 * says so, otherwise JSON.
 */
export type HttpApiConfig = z.infer<typeof httpApiSchema>;
const httpApiSchema = z.strictObject({
  /**
   * Host names, optionally with a port, that a `{name}` in the host of `url` may resolve to.
   * @default a URL whose host is fixed
   */
  allowed_hosts: z.array(z.string().min(1).toLowerCase()).min(1).optional(),
  method: z.string().toUpperCase().pipe(z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])),
  url: z.string().regex(/^https?:\/\/[^/?#]+/, "must be an http(s) URL"),
  parameters: jsonObject,
  query: z.record(z.string(), z.string()).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: jsonValue.optional(),
  auth: authSchema.optional(),
  read_only: z.boolean().optional().describe("Omitted: true for GET and HEAD."),
  idempotent: z.boolean().optional().describe("Omitted: true for GET, HEAD, PUT and DELETE."),
  timeout_ms: timeoutSchema,
}).refine(
  ({ url, allowed_hosts }) => allowed_hosts !== undefined || !/\{/.test(authorityOf(url)),
  { message: "has a placeholder in its host and needs allowed_hosts", path: ["url"] },
);

/** `config` of a tool of type `supabase_rpc` that is a database function. */
export type DatabaseFunctionConfig = z.infer<typeof databaseFunctionSchema>;
const databaseFunctionSchema = z.strictObject({
  /** `schema.name`. */
  function: z.string().min(1),
  timeout_ms: timeoutSchema,
});

/** `config` of a tool of type `supabase_rpc` that is an edge function. */
export type EdgeFunctionConfig = z.infer<typeof edgeFunctionSchema>;
const edgeFunctionSchema = z.strictObject({
  edge_function: z.string().regex(/^[A-Za-z][A-Za-z0-9_-]*$/, "must be an edge function's name"),
  /** @default any object */
  parameters: jsonObject.optional(),
  read_only: z.boolean().optional().meta({ default: false }),
  idempotent: z.boolean().optional().meta({ default: false }),
  timeout_ms: timeoutSchema,
});

/** `config` of a tool of type `internal`. */
export type InternalConfig = z.infer<typeof internalSchema>;
const internalSchema = z.strictObject({
  server: z.string().min(1),
  timeout_ms: timeoutSchema,
});

/**
 * The schemas of `config` by kind. `supabase_rpc` is two kinds: a database function and an edge
 * function. The database checks rows with the JSON Schemas that are generated from these.
 */
export const TOOL_CONFIG_SCHEMAS = {
  mcp_server: mcpServerSchema,
  http_api: httpApiSchema,
  database_function: databaseFunctionSchema,
  edge_function: edgeFunctionSchema,
  internal: internalSchema,
} as const;

/** A registry row's type and its checked config. */
export type ToolConfig =
  | { readonly type: "mcp_server"; readonly config: McpServerConfig }
  | { readonly type: "http_api"; readonly config: HttpApiConfig }
  | { readonly type: "database_function"; readonly config: DatabaseFunctionConfig }
  | { readonly type: "edge_function"; readonly config: EdgeFunctionConfig }
  | { readonly type: "internal"; readonly config: InternalConfig };

type ToolType = (typeof CLOSED_SETS.tools.type)[number];

/**
 * Checks a registry row's `config` against the schema of its type.
 *
 * @throws SwarmError `TOOL_CONFIG_INVALID` with the tool's slug and the problem.
 */
export function parseToolConfig(slug: string, type: ToolType, config: unknown): ToolConfig {
  switch (type) {
    case "mcp_server":
      return { type, config: parse(slug, mcpServerSchema, config) };
    case "http_api":
      return { type, config: parse(slug, httpApiSchema, config) };
    case "internal":
      return { type, config: parse(slug, internalSchema, config) };
    case "supabase_rpc": {
      const isEdgeFunction = typeof config === "object" && config !== null &&
        "edge_function" in config;
      return isEdgeFunction
        ? { type: "edge_function", config: parse(slug, edgeFunctionSchema, config) }
        : { type: "database_function", config: parse(slug, databaseFunctionSchema, config) };
    }
  }
}

function parse<T>(slug: string, schema: z.ZodType<T>, config: unknown): T {
  const result = schema.safeParse(config);
  if (result.success) return result.data;
  const issues = describeIssues(result.error);
  throw new SwarmError(
    "TOOL_CONFIG_INVALID",
    `Cannot use the tool '${slug}': its config is invalid (${issues.join("; ")})`,
    { hint: "Correct the config column of its row in tools." },
  );
}
