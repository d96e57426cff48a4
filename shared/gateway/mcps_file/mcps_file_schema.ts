import { z } from "../../vendor/zod.js";
import { CLOSED_SETS } from "../../platform/db/closed_sets.ts";
import { mcpServerSchema } from "../tool_contracts/tool_config.ts";
import { placeholderIn } from "./placeholder.ts";
import { SECRET_NAME } from "./secret_name.ts";

/** An entry of `external-mcps.yaml`: an external MCP server. */
export type McpEntry = z.infer<typeof entrySchema>;

/** The format of a slug in the registry. */
const SLUG = /^[a-z0-9][a-z0-9_-]{0,62}$/;
/** Uppercase only, so that a pasted secret is not accepted as a name. */
const VARIABLE = /^[A-Z_][A-Z0-9_]*$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Headers that the protocol and the transport set. */
const RESERVED_HEADER =
  /^(accept|connection|content-.*|host|mcp-.*|te|trailer|transfer-encoding|upgrade)$/i;
const LOOPBACK_HOST = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;
/** Hosts with documentation, which serve no MCP endpoint. */
const DOCUMENTATION_HOST = /^(www\.)?(github|gitlab|npmjs)\.com$/;

const { shape } = mcpServerSchema;

const valueSchema = z.string().superRefine((value, context) => {
  // deno-lint-ignore no-control-regex -- the pattern searches for control characters
  if (/[\x00-\x1f\x7f]/.test(value)) context.addIssue("contains control characters");
  if (/\$\{/.test(value)) {
    context.addIssue("does not support variables: name them in credentials and write {{…_env}}");
  }
  if (placeholderIn(value) === "malformed") {
    context.addIssue("must have only one {{…_env}}, at the end");
  }
});

const credentialsSchema = z.record(
  z.string().regex(/^[a-z0-9_]+_env$/, "a credential's key ends in _env"),
  z.string().regex(
    VARIABLE,
    "must be the name of an environment variable, in capitals; never the secret itself",
  ),
);

const entrySchema = z.strictObject({
  name: z.string().min(1).max(200),
  type: z.literal("external").optional(),
  description: z.string().max(2_000).optional(),
  enabled: z.boolean().default(true),
  url: shape.mcp_url.optional(),
  transport: z.literal("streamable-http", {
    error: "must be streamable-http; a server that speaks stdio or SSE needs a bridge, see " +
      "docs/how-to/connect-external-mcp-servers.md",
  }).optional(),
  audience: z.enum(CLOSED_SETS.tools.audience).default("granted"),
  docs_url: shape.docs_url,
  credentials: credentialsSchema.default({}),
  auth: shape.auth,
  oauth: z.strictObject({
    client_id: z.string().min(1).optional(),
    client_secret: valueSchema.optional(),
    scope: z.string().min(1).optional(),
  }).optional(),
  headers: z.record(z.string(), valueSchema).default({}),
  query: z.record(z.string(), valueSchema).default({}),
  allowed_tools: shape.allowed_tools,
  capabilities: shape.capabilities,
  timeout_ms: shape.timeout_ms,
  trust_annotations: shape.trust_annotations,
  new_tools: shape.new_tools,
  trusted: shape.trusted,
}).superRefine((entry, context) => {
  const refuse = (path: string[], message: string) =>
    context.addIssue({ code: "custom", path, message });
  for (const [path, message] of entryProblems(entry)) refuse(path, message);
});

/** The whole file. */
export const mcpsFileSchema = z.strictObject({
  mcps: z.preprocess(
    (value) => value ?? {},
    z.record(
      z.string().regex(SLUG, "a server's key has at most 63 lowercase letters, digits, - and _"),
      entrySchema,
    ),
  ),
}).superRefine(({ mcps }, context) => {
  const seen = new Map<string, string>();
  for (const [slug, { name }] of Object.entries(mcps)) {
    const other = seen.get(name);
    if (other !== undefined) {
      const message = `'${other}' already has this name`;
      context.addIssue({ code: "custom", path: ["mcps", slug, "name"], message });
    }
    seen.set(name, slug);
  }
});

/** Returns the valid keys at a path, to suggest the nearest to an unknown one. */
export function knownKeysAt(path: readonly PropertyKey[]): readonly string[] {
  if (path.length === 0) return ["mcps"];
  if (path.length === 2) return Object.keys(entrySchema.shape);
  if (path[2] === "oauth") return ["client_id", "client_secret", "scope"];
  return path[2] === "auth" ? ["in", "name", "prefix"] : [];
}

/** Returns the key of the server's main credential. */
export function credentialKeyOf({ credentials }: McpEntry): string | undefined {
  return Object.keys(credentials).find((key) => key === "api_key_env" || key === "token_env");
}

type Problem = readonly [path: string[], message: string];

function* entryProblems(entry: McpEntry): Generator<Problem> {
  if (entry.url !== undefined) yield* urlProblems(entry, entry.url);
  else if (entry.enabled) {
    yield [[], "has no url; set the address of its MCP endpoint, or enabled: false"];
  }
  if (entry.auth !== undefined && credentialKeyOf(entry) === undefined) {
    yield [
      ["auth"],
      "places a credential, but credentials has no api_key_env or token_env",
    ];
  }
  if (entry.oauth?.client_secret !== undefined) {
    yield* clientSecretProblems(entry, entry.oauth.client_secret);
  }
  for (const [name, value] of Object.entries(entry.headers)) {
    if (!HEADER_NAME.test(name)) yield [["headers", name], "is not a valid header name"];
    else if (RESERVED_HEADER.test(name)) {
      yield [["headers", name], "is set by the protocol itself"];
    } else yield* valueProblems(entry, ["headers", name], value);
  }
  for (const [name, value] of Object.entries(entry.query)) {
    yield* valueProblems(entry, ["query", name], value);
  }
}

function* clientSecretProblems(entry: McpEntry, value: string): Generator<Problem> {
  const path = ["oauth", "client_secret"];
  const placeholder = placeholderIn(value);
  if (
    placeholder !== "malformed" && placeholder?.prefix !== undefined && placeholder.prefix !== ""
  ) {
    yield [path, "must be only a {{…_env}}"];
  }
  if (entry.oauth?.client_id === undefined) yield [path, "needs a client_id"];
  yield* valueProblems(entry, path, value);
}

function* valueProblems(entry: McpEntry, path: string[], value: string): Generator<Problem> {
  const placeholder = placeholderIn(value);
  const name = path.at(-1) ?? "";
  if (placeholder === "malformed") return;
  if (placeholder === null) {
    if (SECRET_NAME.test(name)) {
      yield [path, "would store a secret in the file; name its variable in credentials instead"];
    }
    return;
  }
  if (!Object.hasOwn(entry.credentials, placeholder.key)) {
    yield [path, `names {{${placeholder.key}}}, which credentials does not have`];
  } else if (placeholder.key === credentialKeyOf(entry)) {
    yield [path, `{{${placeholder.key}}} is the credential; set its place in auth`];
  }
}

function* urlProblems(entry: McpEntry, text: string): Generator<Problem> {
  const url = URL.parse(text);
  const path = ["url"];
  if (url === null) {
    // The schema reports a value that does not start like a placeholder.
    if (/^https?:/.test(text)) yield [path, "is no URL"];
    return;
  }
  if (url.username !== "" || url.password !== "") {
    yield [path, "carries a user name or password; name its variable in credentials instead"];
  }
  if ([...url.searchParams.keys()].some((name) => SECRET_NAME.test(name))) {
    yield [path, "carries a secret; name its variable in credentials, and the place in query"];
  }
  if (DOCUMENTATION_HOST.test(url.hostname)) {
    yield [path, "is a page to read, not an MCP endpoint; keep it as docs_url"];
  }
  const isPlain = url.protocol === "http:" && !LOOPBACK_HOST.test(url.hostname);
  if (isPlain && Object.keys(entry.credentials).length > 0) {
    yield [path, "would send credentials unencrypted; use https"];
  }
}
