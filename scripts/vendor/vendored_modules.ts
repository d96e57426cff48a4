import { UNUSED_CODE } from "./unused_code.ts";
import { UNUSED_LIBPG_QUERY_CODE } from "./unused_libpg_query_code.ts";
import { UNUSED_MCP_CODE } from "./unused_mcp_code.ts";
import { UNUSED_RE2JS_CODE } from "./unused_re2js_code.ts";

/** The pinned npm packages that functions use. */
export const VENDORED_PACKAGES = {
  "@anthropic-ai/sdk": "1.12.0",
  "@cfworker/json-schema": "4.1.6",
  "@google/genai": "3.1.0",
  "@modelcontextprotocol/client": "2.4.0",
  "@modelcontextprotocol/server": "2.4.0",
  "@supabase/server": "1.8.1",
  "github-slugger": "2.0.0",
  "ipaddr.js": "2.5.0",
  "libpg-query": "17.7.4",
  "markdown-it": "15.0.3",
  minimatch: "10.2.6",
  openai: "7.57.0",
  postgres: "3.4.9",
  re2js: "2.10.0",
  yaml: "2.9.1",
  zod: "4.6.7",
} as const;

/** One entry point of a package and its exports. */
export interface VendoredEntry {
  readonly package: keyof typeof VENDORED_PACKAGES;
  /** The path of the entry point in the package, for example `/web`. @default the main one */
  readonly path?: string;
  /** Names of exported values. Code that they do not need is removed. `*` exports all. */
  readonly values: readonly string[] | "*";
  /** Names of types. @default `*`, which some packages' declarations do not allow */
  readonly types?: readonly string[] | "*";
}

/** A change of a package's file, which the package itself does not offer. */
export interface Patch {
  /** The end of the file's path. */
  readonly file: string;
  /** The code to replace: its text, or a global pattern. */
  readonly from: string | RegExp;
  readonly to: string;
  /** How often the file contains the code. @default 1 */
  readonly matches?: number;
}

/** A WebAssembly module of a package, with the one place in its bytes that is changed. */
export interface VendoredWasm {
  /** The end of the file's path. */
  readonly file: string;
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** A file `shared/vendor/<name>.js` and its bundled entry points. */
export interface VendoredModule {
  /** Changes of the package's code. The build fails if one does not match. */
  readonly patches?: readonly Patch[];
  readonly name: string;
  readonly entries: readonly VendoredEntry[];
  /**
   * A WebAssembly module of the package, exported as `wasmBrotliBase64` because functions have no
   * files.
   */
  readonly wasm?: VendoredWasm;
  /**
   * Whether functions may load it at every start. Other modules must be imported with `import()`.
   */
  readonly isLoadedAtStart?: true;
  /**
   * Whether unused modules of the package may be left out, although its `package.json` does not say
   * so.
   */
  readonly hasNoSideEffects?: true;
  /** A file for the code that this module shares with the others of the same value. */
  readonly shared?: "mcp_core";
}

/** Every module in `shared/vendor/`. */
export const VENDORED_MODULES: readonly VendoredModule[] = [
  {
    name: "anthropic",
    patches: UNUSED_CODE.anthropic,
    entries: [
      // The base client has no resources, so that only the used one is bundled.
      { package: "@anthropic-ai/sdk", values: ["BaseAnthropic"] },
      {
        package: "@anthropic-ai/sdk",
        path: "/resources/messages",
        values: ["Messages"],
        types: [],
      },
    ],
  },
  {
    name: "cfworker_json_schema",
    isLoadedAtStart: true,
    // Patterns are matched like formats, by the linear engine; see `metered_schema.ts`.
    patches: [{
      file: "json-schema/dist/esm/validate.js",
      from: "!new RegExp($pattern, 'u').test(instance)",
      to: "!format['pattern\\n' + $pattern](instance)",
    }, {
      file: "json-schema/dist/esm/validate.js",
      from: "const regex = new RegExp(pattern, 'u');",
      to: "const regex = { test: format['pattern\\n' + pattern] };",
    }],
    entries: [{ package: "@cfworker/json-schema", values: ["Validator", "format"] }],
  },
  {
    name: "github_slugger",
    entries: [{ package: "github-slugger", values: ["default"] }],
  },
  {
    name: "google_genai",
    patches: UNUSED_CODE.googleGenai,
    entries: [{ package: "@google/genai", path: "/web", values: ["GoogleGenAI"] }],
  },
  {
    name: "ipaddr",
    isLoadedAtStart: true,
    entries: [{ package: "ipaddr.js", values: ["default"], types: [] }],
  },
  {
    name: "markdown_it",
    patches: UNUSED_CODE.markdownIt,
    entries: [{ package: "markdown-it", values: ["default"] }],
  },
  {
    name: "mcp_client",
    shared: "mcp_core",
    patches: [...edgeValidator("client"), ...UNUSED_MCP_CODE],
    entries: [{
      package: "@modelcontextprotocol/client",
      values: [
        "Client",
        "IssuerMismatchError",
        "OAuthError",
        "RegistrationRejectedError",
        "StreamableHTTPClientTransport",
        "assertSecureTokenEndpoint",
        "checkResourceAllowed",
        "exchangeAuthorization",
        "extractWWWAuthenticateParams",
        "refreshAuthorization",
        "registerClient",
        "resolveClientMetadata",
        "resourceUrlFromServerUrl",
        "selectClientAuthMethod",
        "startAuthorization",
      ],
    }],
  },
  {
    name: "mcp_server",
    shared: "mcp_core",
    patches: edgeValidator("server"),
    entries: [{
      package: "@modelcontextprotocol/server",
      values: [
        "McpServer",
        "MissingRequiredClientCapabilityError",
        "ProtocolError",
        "ProtocolErrorCode",
        "ResourceNotFoundError",
        "createMcpHandler",
        "isInputRequiredResult",
      ],
    }],
  },
  {
    name: "minimatch",
    isLoadedAtStart: true,
    entries: [{ package: "minimatch", values: ["Minimatch"] }],
  },
  {
    name: "libpg_query",
    // The glue code reads the WebAssembly module from Node's file system; here it is in the bundle.
    patches: [{
      file: "libpg-query/wasm/libpg-query.js",
      from: 'globalThis.process?.versions?.node&&globalThis.process?.type!="renderer"',
      to: "false",
    }, ...UNUSED_LIBPG_QUERY_CODE],
    // It starts with 36 MiB (576 pages) instead of 128: its data and stack take 33, and it grows. A
    // larger memory makes the runtime collect garbage at once, while other threads still compile the
    // parser, and then the isolate's thread waits in a loop that uses up to 450 ms of CPU time.
    wasm: {
      file: "libpg-query/wasm/libpg-query.wasm",
      // The section of memories: one, with a minimum and a maximum of pages.
      from: [5, 7, 1, 1, 0x80, 0x10, 0x80, 0x80, 1],
      to: [5, 7, 1, 1, 0xc0, 0x04, 0x80, 0x80, 1],
    },
    entries: [{
      package: "libpg-query",
      path: "/wasm/libpg-query.js",
      values: ["default"],
      types: [],
    }],
  },
  {
    name: "openai",
    hasNoSideEffects: true,
    patches: UNUSED_CODE.openai,
    entries: [{ package: "openai", values: ["OpenAI"] }],
  },
  {
    name: "postgres",
    isLoadedAtStart: true,
    // A statement must fail if the connection of its transaction has closed. Instead, the driver
    // writes to the closed socket one turn later, where no caller can catch the error.
    patches: [...UNUSED_CODE.postgres, {
      file: "postgres/src/connection.js",
      from: "if (terminated)\n      return queryError",
      to: "if (terminated || socket === null)\n      return queryError",
    }, {
      // `max_pipeline` statements are sent without an answer, not one more, and a transaction begins
      // whatever its value is. It is read for each statement, so that it can change.
      file: "postgres/src/connection.js",
      from: "&& sent.length < max_pipeline\n        && (!q.options.onexecute || " +
        "q.options.onexecute(connection))",
      to: "&& (q.options.onexecute ? q.options.onexecute(connection)\n        " +
        ": sent.length + 1 < options.max_pipeline)",
    }],
    entries: [{
      package: "postgres",
      values: ["default"],
      types: ["PendingQuery", "Row", "Sql", "TransactionSql"],
    }],
  },
  {
    name: "re2js",
    isLoadedAtStart: true,
    patches: UNUSED_RE2JS_CODE,
    entries: [{ package: "re2js", values: ["RE2JS"] }],
  },
  {
    name: "supabase_server",
    entries: [{ package: "@supabase/server", path: "/core", values: ["verifyAuth"] }],
  },
  {
    name: "supabase_server_oauth",
    isLoadedAtStart: true,
    entries: [{
      package: "@supabase/server",
      path: "/oauth-protected-resource",
      values: ["withOAuthProtectedResource"],
    }],
  },
  {
    name: "yaml",
    patches: UNUSED_CODE.yaml,
    entries: [{ package: "yaml", values: ["parse"] }],
  },
  {
    name: "zod",
    isLoadedAtStart: true,
    patches: UNUSED_CODE.zod,
    entries: [{ package: "zod", values: "*" }],
  },
];

/**
 * Replaces the SDK's JSON Schema validator for servers by the one that it has for edge runtimes,
 * which has a seventh of the code, and its copy of that validator's package by the package.
 */
function edgeValidator(side: "client" | "server"): Patch[] {
  return [
    {
      file: `${side}/dist/shimsNode.mjs`,
      from: /^import \{ n as AjvJsonSchemaValidator \} from ".+";$/gm,
      to: "import { CfWorkerJsonSchemaValidator as AjvJsonSchemaValidator } from " +
        `"@modelcontextprotocol/${side}/validators/cf-worker";`,
    },
    {
      file: `${side}/dist/cfWorkerProvider-${{ client: "l7BFVI5n", server: "hgYAfIZf" }[side]}.mjs`,
      from:
        /^\/\/#region .+\/@cfworker\/json-schema\/[^]+(?=^\/\/#region .+\/cfWorkerProvider\.ts$)/gm,
      to: 'import { Validator } from "@cfworker/json-schema";\n',
    },
  ];
}

/** Returns the npm specifier of an entry point, with the pinned version. */
export function specifierOf({ package: name, path = "" }: VendoredEntry): string {
  return `npm:${name}@${VENDORED_PACKAGES[name]}${path}`;
}
