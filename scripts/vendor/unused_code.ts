import {
  blockThat,
  withoutBlock,
  withoutClassBody,
  withoutLines,
  withoutMembers,
} from "./remove_code.ts";
import { UNUSED_ANTHROPIC_CODE } from "./unused_anthropic_code.ts";
import type { Patch } from "./vendored_modules.ts";

/** Adapters send no query, except for parameters of a provider's own address, which are flat. */
function flatQuery(file: string): Patch[] {
  return [
    { file, from: 'import * as qs from "../qs/stringify.mjs";\n', to: "" },
    {
      file,
      from: "return qs.stringify(query, { arrayFormat: 'brackets' });",
      to: "return String(new URLSearchParams(Object.entries(query)" +
        ".filter(([, value]) => value !== undefined)));",
    },
  ];
}

/** The number of enumerations in Google's SDK. */
const ENUMS = 79;

/** What the project and the MCP SDKs read from `z`. A test compares it with the project's code. */
const USED_ZOD = `
export {
  ZodNever, ZodType, any, array, boolean, custom, date, discriminatedUnion, email, enum, guid, int,
  intersection, json, lazy, literal, looseObject, never, null, nullable, number, object, optional,
  partialRecord, preprocess, record, strictObject, string, tuple, union, unknown, url, uuid,
} from "./schemas.js";
export { ZodError } from "./errors.js";
export { safeParse } from "./parse.js";
export { config, NEVER, prettifyError } from "../core/index.js";
export { toJSONSchema } from "../core/json-schema-processors.js";
`;

/**
 * Patches that remove code which no function runs. A bundler keeps it, because a class or a
 * namespace that functions use contains it. Whoever needs a removed part deletes its patch.
 */
export const UNUSED_CODE = {
  anthropic: [...UNUSED_ANTHROPIC_CODE, ...flatQuery("@anthropic-ai/sdk/internal/utils/query.mjs")],
  openai: [
    ...flatQuery("openai/internal/utils/query.mjs"),
    {
      file: "openai/client.mjs",
      from: /^ +this\.(?!chat\b|responses\b)\w+ = new API\.\w+\(this\);\n/gm,
      to: "",
      matches: 25,
    },
    { file: "openai/client.mjs", from: /^OpenAI\.\w+ = [A-Z]\w+;\n/gm, to: "", matches: 27 },
    ...withoutMembers("chat/completions/completions.mjs", ["list", "parse", "runTools", "stream"]),
    ...withoutMembers("openai/resources/responses/responses.mjs", ["parse", "stream"]),
    ...["inputItems", "inputTokens"].map((name) =>
      withoutLines("openai/resources/responses/responses.mjs", String.raw`this\.${name} = new .*`)
    ),
    ...["InputItems", "InputTokens"].map((name) =>
      withoutLines("openai/resources/responses/responses.mjs", `Responses\\.${name} = .*`)
    ),
    // Files, lists of several pages, web sockets and copies of the client.
    ...withoutMembers("openai/client.mjs", [
      ...["_buildWebSocketHeaders", "getAPIList", "requestAPIList", "withOptions"],
    ]),
    {
      file: "openai/client.mjs",
      from: /^OpenAI\.\w+ = (?:Pagination|Uploads)\.\w+;\n/gm,
      to: "",
      matches: 7,
    },
    withoutBlock(
      "openai/client.mjs",
      String.raw`if \(options\.__metadata\?\.\['finalizeMultipart'\] .*\)`,
    ),
    withoutLines("openai/client.mjs", String.raw`finalizeStreamingFormRequestOptions\(.*`),
    // Credentials of workloads: the adapter passes a key, so the client creates none of these.
    withoutClassBody("openai/auth/workload-identity-auth.mjs", "WorkloadIdentityAuth"),
    withoutClassBody(
      "internal/auth/x509-workload-identity-auth.mjs",
      "X509WorkloadIdentityAuth",
    ),
  ],
  googleGenai: [
    // Enumerations become expressions, which a bundler leaves out if they are unused.
    {
      file: "genai/dist/web/index.mjs",
      from: /;\n(?<=^var (\w+);\n)(?=\(function \(\1\) \{\n)/gm,
      to: " = /* @__PURE__ */ enumeration",
      matches: ENUMS,
    },
    {
      file: "genai/dist/web/index.mjs",
      from: /(?<=^\}\))\((\w+) \|\| \(\1 = \{\}\)\)(?=;$)/gm,
      to: "",
      matches: ENUMS,
    },
    {
      file: "genai/dist/web/index.mjs",
      from: /$(?![^])/g,
      to: "\nfunction enumeration(fill) { const values = {}; fill(values); return values; }\n",
    },
    {
      file: "genai/dist/web/index.mjs",
      from:
        /^ {8}this\.(?!models\b|music\b|_)\w+ = new [\w$]+\(this\.(?:apiClient|models)(?:, .*)?\);\n/gm,
      to: "",
      matches: 9,
    },
    {
      // Getters of the newer clients, for example of `interactions`.
      file: "genai/dist/web/index.mjs",
      from: blockThat(String.raw`get \w+\(\)`, String.raw`this\._\w+ = new GeminiNextGen.*`),
      to: "",
      matches: 7,
    },
    // Functions that the SDK calls by itself, and shortcuts to parts of an answer.
    {
      file: "genai/dist/web/index.mjs",
      from: "if (!hasCallableTools(params) || shouldDisableAfc(params.config)) {",
      to: "if (true) {",
    },
    {
      file: "genai/dist/web/index.mjs",
      from: "if (shouldDisableAfc(params.config)) {",
      to: "if (true) {",
    },
    {
      file: "genai/dist/web/index.mjs",
      from: "if (isMcpCallableTool(tool)) {",
      to: "if (false) {",
    },
    {
      file: "genai/dist/web/index.mjs",
      from: blockThat("get (?:text|data|functionCalls|executableCode|codeExecutionResult)\\(\\)"),
      to: "",
      matches: 7,
    },
    ...withoutMembers("genai/dist/web/index.mjs", [
      "processAfcStream",
      "initAfcToolsMap",
      "getNextGenClient",
      "embedContent",
      "embedContentInternal",
      "generateImages",
      "generateImagesInternal",
      "editImage",
      "editImageInternal",
      "upscaleImage",
      "upscaleImageInternal",
      "generateVideos",
      "generateVideosInternal",
      "recontextImage",
      "segmentImage",
      "countTokens",
      "computeTokens",
      "uploadFile",
      "uploadFileToFileSearchStore",
      "downloadFile",
      "fetchUploadUrl",
    ]),
    {
      file: "genai/dist/web/index.mjs",
      from: blockThat(String.raw`async (?:get|update|delete|listInternal)\(params\)`),
      to: "",
      matches: 21,
    },
    {
      file: "genai/dist/web/index.mjs",
      from: blockThat(String.raw`this\.list = async \(.*\) =>`),
      to: "",
      matches: 7,
    },
    withoutLines("genai/dist/web/index.mjs", String.raw`uploader: new .*`),
    withoutLines("genai/dist/web/index.mjs", String.raw`downloader: new .*`),
    // The conversion of requests and answers for Vertex AI, which the adapter does not use.
    {
      file: "genai/dist/web/index.mjs",
      from:
        /(?:this\.)?(?:apiClient|client|parentClient)\.isVertexAI\(\)|this\.clientOptions\.vertexai/g,
      to: "false",
      matches: 52,
    },
  ],
  markdownIt: [
    // The project does not set the option `linkify`.
    {
      file: "markdown-it/dist/markdown-it.mjs",
      from: 'import { LinkifyIt } from "linkify-it";\n',
      to: "",
    },
    { file: "markdown-it/dist/markdown-it.mjs", from: "new LinkifyIt()", to: "null" },
    {
      // The engine has these tables.
      file: "uc.micro/build/index.mjs",
      from: /^[^]+$/g,
      to: "export const P = /\\p{P}/u;\nexport const S = /\\p{S}/u;\n",
    },
  ],
  postgres: [
    // Replication and large objects.
    { file: "postgres/src/index.js", from: "import Subscribe from './subscribe.js'\n", to: "" },
    { file: "postgres/src/index.js", from: "import largeObject from './large.js'\n", to: "" },
    {
      file: "postgres/src/index.js",
      from: "options.no_subscribe || Subscribe(Postgres, { ...options })",
      to: "{}",
    },
    withoutLines("postgres/src/index.js", String.raw`largeObject: largeObject\.bind\(null, sql\),`),
    withoutLines("postgres/src/index.js", "subscribe,"),
  ],
  yaml: [
    {
      // The package's files for browsers are ES modules, of which unused parts can be left out.
      file: "yaml/dist/index.js",
      from: /^[^]+$/g,
      to: 'export * from "../browser/dist/index.js";\n',
    },
    {
      // Decodes binary values as the files for servers do.
      file: "yaml/browser/dist/schema/yaml-1.1/binary.js",
      from: "if (typeof atob === 'function') {",
      to: "if (typeof Buffer === 'function') return Buffer.from(src, 'base64');\n" +
        "if (typeof atob === 'function') {",
    },
  ],
  zod: [
    // Messages in other languages than English, and schemas that are compiled to code.
    {
      file: "zod/v4/core/index.js",
      from: 'export * as locales from "../locales/index.js";\n',
      to: "",
    },
    { file: "zod/v4/core/index.js", from: 'export * from "./compile.js";\n', to: "" },
    // Without this, the namespace `z` contains the whole package.
    {
      file: "zod/v4/classic/external.js",
      from: /^export [^]+?(?=^export \{ ZodISODateTime)/gm,
      to: USED_ZOD,
    },
    // Compiles the parser of an object after it has parsed three values: most schemas of an isolate's
    // first request parse one or two, in less time than compiling takes.
    {
      file: "zod/v4/core/schemas.js",
      from: "    let fastpass;\n",
      to: "    let fastpass;\n    let parsedCount = 0;\n",
    },
    {
      file: "zod/v4/core/schemas.js",
      from: "            if (!fastpass)\n",
      to: "            if (!fastpass && ++parsedCount <= 3)\n" +
        "                return superParse(payload, ctx);\n" +
        "            if (!fastpass)\n",
    },
  ],
} as const satisfies Readonly<Record<string, readonly Patch[]>>;
