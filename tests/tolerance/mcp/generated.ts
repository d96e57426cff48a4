import assert from "node:assert/strict";
import { z } from "../../../shared/vendor/zod.js";
import { findAuthority } from "../../../shared/gateway/tools/credentials/oauth/authorization_server.ts";
import { validateValue } from "../../../shared/models/tool_schemas/validate_value.ts";
import { toCachedForms } from "../../../shared/models/tool_schemas/cached_forms.ts";
import type { JsonObject, JsonValue } from "../../../shared/platform/values/json.ts";
import { loadMcpSchemas } from "../../deps.ts";
import { exampleOf, type Path, textsBeside, type Variant, variantsOf } from "../variants.ts";
import { callPeer, type Era, ERAS, openPeer, respond } from "./peer.ts";

type SchemaName = Extract<keyof Awaited<ReturnType<typeof loadMcpSchemas>>, `${string}Schema`>;

/** Something that a server sends, and the rule that each variant of it has to keep. */
interface Subject {
  readonly name: string;
  readonly document: JsonValue;
  /** Rejects if a variant breaks the rule. */
  readonly check: (variant: Variant) => Promise<void>;
}

/**
 * Checks every n-th variant of everything that MCP servers and their authorization servers send.
 *
 * @returns The number of checked variants, by subject.
 */
export async function checkVariants(every: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const failures: string[] = [];
  for (const { name, document, check } of await subjects()) {
    let index = 0;
    counts[name] = 0;
    for (const variant of variantsOf(document)) {
      if (index++ % every !== 0) continue;
      counts[name]++;
      try {
        await check(variant);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        failures.push(`${name}: ${pathText(variant.path)} ${variant.change}: ${reason}`);
      }
    }
  }
  assert.deepEqual(failures.map((failure) => failure.slice(0, 500)), []);
  return counts;
}

async function subjects(): Promise<Subject[]> {
  const schemas = await loadMcpSchemas();
  const example = (name: SchemaName): JsonObject => {
    const schema = schemas[name] as unknown as z.ZodType;
    const described = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
    const { _meta, ...document } = exampleOf(described as JsonObject) as JsonObject;
    // What the protocol itself keeps in `_meta` is not the server's own.
    return _meta === undefined ? document : { ...document, _meta: { own: "mark:_meta.own" } };
  };
  const ofEra = (era: Era): Subject[] => [
    callResults(era, example("CallToolResultSchema")),
    lists(era, example("ListToolsResultSchema")),
    ...RELAYED.map(([method, schema]) => relayed(era, method, example(schema))),
    errors(era, example("JSONRPCErrorResponseSchema")),
  ];
  return [
    ...ERAS.flatMap(ofEra),
    handshakes("session", "initialize", example("InitializeResultSchema")),
    handshakes("stateless", "server/discover", example("DiscoverResultSchema")),
    ...authorizations(
      example("OAuthProtectedResourceMetadataSchema"),
      example("OAuthMetadataSchema"),
    ),
  ];
}

const RELAYED = [
  ["resources/list", "ListResourcesResultSchema"],
  ["resources/templates/list", "ListResourceTemplatesResultSchema"],
  ["resources/read", "ReadResourceResultSchema"],
  ["prompts/list", "ListPromptsResultSchema"],
  ["prompts/get", "GetPromptResultSchema"],
  ["completion/complete", "CompleteResultSchema"],
] as const;

/** An answered call stays answered, and each part arrives or is named. */
function callResults(era: Era, document: JsonObject): Subject {
  return {
    name: `results of calls (${era})`,
    document: era === "stateless" ? { ...document, resultType: "complete" } : document,
    check: async (variant) => {
      const peer = openPeer(era, (request) => respond(request, variant.document));
      const answer = await callPeer(peer);
      assert.equal(answer.kind, "answered");
      assert.equal(peer.seen.length, 1, "the call is sent once");
      const { content, structured, meta, isError, text } = answer as Extract<
        typeof answer,
        { kind: "answered" }
      >;
      const read = {
        content,
        structuredContent: structured,
        _meta: meta,
        isError,
        resultType: "complete",
      };
      assertKeptBeside(variant, document, JSON.stringify(read), text);
      assertNamed(variant, read as unknown as JsonValue, text);
    },
  };
}

/** The tools beside a broken one are offered, and so is each part beside a broken one. */
function lists(era: Era, { nextCursor: _, tools, ...document }: JsonObject): Subject {
  const [tool] = tools as readonly JsonObject[];
  const inputSchema = FULL_SCHEMA;
  return {
    name: `lists of tools (${era})`,
    document: { ...document, tools: [{ ...tool, inputSchema }, { name: "beside" }] },
    check: async (variant) => {
      if (variant.path.length === 0) return;
      const { server } = openPeer(
        era,
        (request) =>
          request.method === "tools/list" ? respond(request, variant.document) : undefined,
      );
      const { tools, dropped } = await server.listTools(new AbortController().signal);
      const [list, index] = variant.path;
      for (const { name, inputSchema } of tools) {
        // A schema that is too large is refused, with its tool alone.
        if (variant.change === "huge") continue;
        assert.notEqual(validateValue({}, inputSchema).kind, "undecided");
        toCachedForms({ name: "tool", description: name, inputSchema });
      }
      if (list !== "tools" || index === undefined) return;
      const others = index === 0 ? ["beside"] : ["mark:tools.0.name"];
      for (const name of others) assert.ok(tools.some((tool) => tool.name === name), "beside");
      const offered = tools.find((tool) => tool.name !== "beside");
      const said = dropped.map(({ name, reason }) => `${name} tools[0].${reason}`).join("\n");
      if (index !== 0) return;
      if (offered === undefined) {
        assert.match(pathText(variant.path), /^tools\[0\](\.name|\.inputSchema(\.type)?)?$/);
        assert.ok(dropped.length > 0 || variant.value === undefined || variant.value === null);
        return;
      }
      const full = { tools: [{ ...tool, inputSchema }] };
      assertKeptBeside(variant, full, JSON.stringify(offered), said);
      assertNamed(variant, { tools: [offered] } as unknown as JsonValue, said);
    },
  };
}

/** Every kind of keyword that a schema of arguments may have. */
const FULL_SCHEMA: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  title: "mark:schema.title",
  description: "mark:schema.description",
  properties: {
    words: {
      type: "array",
      items: { type: "string", maxLength: 9 },
      minItems: 1,
      uniqueItems: true,
    },
    kind: { enum: ["mark:schema.enum", null], default: null },
    size: { anyOf: [{ type: "integer", minimum: 0, maximum: 9 }, { type: ["number", "null"] }] },
    nested: {
      type: "object",
      properties: { a: { $ref: "#/$defs/word" } },
      required: ["a"],
      additionalProperties: { type: "string" },
    },
  },
  required: ["words"],
  additionalProperties: false,
  $defs: { word: { type: "string", pattern: "^[a-z]+$", format: "email" } },
};

/** Resources and prompts beside a broken one are passed on. */
function relayed(era: Era, method: (typeof RELAYED)[number][0], document: JsonObject): Subject {
  return {
    name: `${method} (${era})`,
    document: { ...document, ...(era === "stateless" ? { ttlMs: 5, cacheScope: "public" } : {}) },
    check: async (variant) => {
      if (variant.path.length === 0) return;
      const { server } = openPeer(era, (request) => respond(request, variant.document));
      const result = await server.relay?.({
        method,
        params: {},
        caller: {} as Parameters<NonNullable<typeof server.relay>>[0]["caller"],
        input: { capabilities: {}, responses: null, state: null },
        timeoutMs: 20_000,
      }, new AbortController().signal);
      assert.ok(result !== undefined);
      const text = JSON.stringify(result);
      assertKeptBeside(variant, document, text, text);
      assertNamed(variant, result, text);
    },
  };
}

/** The server's words reach the caller; only an answer to another request is none. */
function errors(era: Era, document: JsonObject): Subject {
  return {
    name: `errors (${era})`,
    document: { ...document, id: 0 },
    check: async (variant) => {
      const [member] = variant.path;
      const peer = openPeer(era, ({ id }) => {
        const body = variant.document;
        const isOwn = member !== undefined && member !== "id";
        return Response.json(isOwn ? { ...body as JsonObject, id } : body);
      });
      const answer = await callPeer(peer);
      assert.equal(peer.seen.length, 1, "the call is sent once");
      if (member === undefined || member === "id") return;
      assert.equal(answer.kind, "answered");
      if (variant.path.length < 2) return;
      const { message = null } = document.error as JsonObject;
      assertKeptBeside(variant, { error: { message } }, JSON.stringify(answer), "");
    },
  };
}

/** A server whose description of itself is broken can still be connected and asked. */
function handshakes(era: Era, method: string, document: JsonObject): Subject {
  const versions = era === "session"
    ? { protocolVersion: "2025-11-25" }
    : { supportedVersions: ["2026-07-28"] };
  return {
    name: method,
    document: { ...document, ...versions },
    check: async (variant) => {
      const [member] = variant.path;
      if (member === undefined || Object.hasOwn(versions, member)) return;
      const { server, saved } = openPeer(era, (request) => {
        if (request.method === method) return respond(request, variant.document);
        const tools = [{ name: "tool" }];
        return request.method === "tools/list" ? respond(request, { tools }) : undefined;
      }, "unknown");
      const { tools } = await server.listTools(new AbortController().signal);
      assert.deepEqual(tools.map(({ name }) => name), ["tool"]);
      assert.equal(saved[0]?.discovery === null, era === "session");
    },
  };
}

/** Optional metadata never stops a connection, and what is required is named if it is missing. */
function authorizations(resource: JsonObject, server: JsonObject): Subject[] {
  const tool = "https://mark.example/mcp";
  const issuer = "https://as.example";
  const fullServer = {
    ...server,
    issuer,
    code_challenge_methods_supported: ["S256"],
    response_types_supported: ["code"],
  };
  const fullResource = { ...resource, resource: tool, authorization_servers: [issuer] };
  const web = (own: JsonValue, theirs: JsonValue): typeof fetch => (input) => {
    const { href, origin } = new URL(String(input));
    if (href === tool) return Promise.resolve(new Response(null, { status: 401 }));
    return Promise.resolve(Response.json(origin === issuer ? theirs : own));
  };
  const find = async (
    name: string,
    { path: [member] }: Variant,
    pages: typeof fetch,
    needed: readonly string[],
  ) => {
    try {
      await findAuthority("tool", tool, pages);
    } catch (error) {
      if (member !== undefined && !needed.includes(String(member))) throw error;
      assert.match(String(error), /Cannot connect to 'tool' by OAuth: /, name);
    }
  };
  const required = [
    "issuer",
    "authorization_endpoint",
    "token_endpoint",
    "code_challenge_methods_supported",
    "response_types_supported",
  ];
  return [{
    name: "metadata of a resource",
    document: fullResource,
    check: (variant) =>
      find("resource", variant, web(variant.document, fullServer), [
        "resource",
        "authorization_servers",
      ]),
  }, {
    name: "metadata of an authorization server",
    document: fullServer,
    check: (variant) => find("server", variant, web(fullResource, variant.document), required),
  }];
}

/** An object that cannot be used without the changed member is left out with it, and named. */
function assertKeptBeside(
  { path }: Variant,
  document: JsonValue,
  read: string,
  said: string,
): void {
  const owner = path.slice(0, -1);
  const isWhole = owner.length > 1 && said.includes(`${pathText(owner)} is `);
  const lost = textsBeside(document, isWhole ? owner : path).filter((text) => !read.includes(text));
  assert.ok(lost.length === 0, `this is lost beside it: ${lost.join(", ")}`);
}

/** A changed part arrives as it is or in its list, or the text names it. */
function assertNamed({ path, value }: Variant, read: JsonValue, said: string): void {
  if (value === undefined || value === null || path.length === 0) return;
  const arrived = JSON.stringify(partOf(read, path));
  const written = JSON.stringify(value);
  // Some languages write an empty object as an empty list, and nothing is lost with it.
  const isEmpty = /^(\[\]|\{\})$/.test(written) &&
    /^(\{\}|\{"type":"object"\})?$/.test(arrived ?? "");
  const isSame =
    [written, JSON.stringify([value]), JSON.stringify(String(value))].includes(arrived ?? "") ||
    written === `[${arrived},${arrived}]`;
  if (isEmpty || isSame) return;
  const names = path.map((_, index) => pathText(path.slice(0, index + 1)));
  const isNamed = names.some((name) =>
    said.includes(`${name} is`) || said.includes(`${name}[`) || said.includes(`${name}.`)
  );
  assert.ok(
    isNamed,
    `${written.slice(0, 50)} became ${arrived?.slice(0, 50)}, and nothing says so`,
  );
}

function partOf(document: JsonValue, path: Path): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (value, part) =>
      typeof value === "object" && value !== null
        ? (value as Record<string | number, JsonValue>)[part]
        : undefined,
    document,
  );
}

function pathText(path: Path): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`,
    "",
  );
}
