import {
  blockThat,
  withoutBlock,
  withoutClassBody,
  withoutLines,
  withoutMembers,
} from "./remove_code.ts";
import { UNUSED_ANTHROPIC_CODE } from "./unused_anthropic_code.ts";
import type { Patch } from "./vendored_modules.ts";

/**
 * Patches that remove code which no function runs. A bundler keeps it, because a class or a
 * namespace that functions use contains it. Whoever needs a removed part deletes its patch.
 */
export const UNUSED_CODE = {
  anthropic: UNUSED_ANTHROPIC_CODE,
  openai: [
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
    // Files, and lists of several pages.
    ...withoutMembers("openai/client.mjs", ["getAPIList", "requestAPIList"]),
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
    ...withoutMembers("genai/dist/web/index.mjs", [
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
    // Messages in other languages than English.
    ...["zod/v4/classic/external.js", "zod/v4/core/index.js"].map((file) => ({
      file,
      from: 'export * as locales from "../locales/index.js";\n',
      to: "",
    })),
    // Schemas that are compiled to code, and schemas that are read from JSON Schema.
    { file: "zod/v4/core/index.js", from: 'export * from "./compile.js";\n', to: "" },
    {
      file: "zod/v4/classic/external.js",
      from: / INVALID,| compile,| withParser,| ZodCompile\w+,/g,
      to: "",
      matches: 5,
    },
    {
      file: "zod/v4/classic/external.js",
      from: 'export { fromJSONSchema } from "./from-json-schema.js";\n',
      to: "",
    },
  ],
} as const satisfies Readonly<Record<string, readonly Patch[]>>;
