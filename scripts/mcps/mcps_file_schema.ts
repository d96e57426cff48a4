import { z } from "../../shared/vendor/zod.js";
import { mcpServerSchema } from "../../shared/tool_contracts/tool_config.ts";
import { placeholderIn } from "./placeholder.ts";

/** An entry of `external-mcps.yaml`: somebody else's MCP server. */
export type McpEntry = z.infer<typeof entrySchema>;

/** A slug, as the registry has it. */
const SLUG = /^[a-z0-9][a-z0-9_-]{0,62}$/;
/** Capitals only: a pasted secret should not pass for a name. */
const VARIABLE = /^[A-Z_][A-Z0-9_]*$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What the protocol and the transport set themselves. */
const RESERVED_HEADER =
  /^(accept|connection|content-.*|host|mcp-.*|te|trailer|transfer-encoding|upgrade)$/i;
/** Names under which secrets travel. */
const SECRET_NAME = /(^|[-_.])(api-?_?key|authorization|cookie|key|password|secret|token)$/i;
const LOOPBACK_HOST = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;
/** Where people read about servers; nothing there speaks the protocol. */
const DOCUMENTATION_HOST = /^(www\.)?(github|gitlab|npmjs)\.com$/;

const { shape } = mcpServerSchema;

const valueSchema = z.string().superRefine((value, context) => {
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  if (/[\x00-\x1f\x7f]/.test(value)) context.addIssue("holds control characters");
  if (/\$\{/.test(value)) {
    context.addIssue("variables are not read here: name them in credentials, and write {{…_env}}");
  }
  if (placeholderIn(value) === "malformed") {
    context.addIssue("a {{…_env}} must be the only one and stand at the end");
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
      z.string().regex(SLUG, "a server's key has small letters, digits, - and _, at most 63"),
      entrySchema,
    ),
  ),
}).superRefine(({ mcps }, context) => {
  const seen = new Map<string, string>();
  for (const [slug, { name }] of Object.entries(mcps)) {
    const other = seen.get(name);
    if (other !== undefined) {
      const message = `'${other}' has this name already`;
      context.addIssue({ code: "custom", path: ["mcps", slug, "name"], message });
    }
    seen.set(name, slug);
  }
});

/** The keys that may stand where a path leads; for the nearest to a mistaken one. */
export function knownKeysAt(path: readonly PropertyKey[]): readonly string[] {
  if (path.length === 0) return ["mcps"];
  if (path.length === 2) return Object.keys(entrySchema.shape);
  if (path[2] === "oauth") return ["client_id", "client_secret", "scope"];
  return path[2] === "auth" ? ["in", "name", "prefix"] : [];
}

/** The key of the credential that the server gets as such: the first of the two. */
export function credentialKeyOf({ credentials }: McpEntry): string | undefined {
  return Object.keys(credentials).find((key) => key === "api_key_env" || key === "token_env");
}

type Problem = readonly [path: string[], message: string];

function* entryProblems(entry: McpEntry): Generator<Problem> {
  if (entry.url !== undefined) yield* urlProblems(entry, entry.url);
  else if (entry.enabled) {
    yield [[], "has no url; give the address of its MCP endpoint, or enabled: false"];
  }
  if (entry.auth !== undefined && credentialKeyOf(entry) === undefined) {
    yield [
      ["auth"],
      "says where a credential goes, and credentials has no api_key_env or token_env",
    ];
  }
  if (entry.oauth?.client_secret !== undefined) {
    yield* clientSecretProblems(entry, entry.oauth.client_secret);
  }
  for (const [name, value] of Object.entries(entry.headers)) {
    if (!HEADER_NAME.test(name)) yield [["headers", name], "is no header's name"];
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
    yield [path, "must be a {{…_env}} and nothing else"];
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
      yield [path, "would keep a secret in the file; name its variable in credentials instead"];
    }
    return;
  }
  if (!Object.hasOwn(entry.credentials, placeholder.key)) {
    yield [path, `names {{${placeholder.key}}}, which credentials does not have`];
  } else if (placeholder.key === credentialKeyOf(entry)) {
    yield [path, `{{${placeholder.key}}} is the credential; auth says where that goes`];
  }
}

function* urlProblems(entry: McpEntry, text: string): Generator<Problem> {
  const url = URL.parse(text);
  const path = ["url"];
  if (url === null) {
    // The schema reports a value that does not start like one.
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
