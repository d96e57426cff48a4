import type { Patch } from "./vendored_modules.ts";

/**
 * Patches that remove code which no function runs. A bundler keeps it, because a class or a
 * namespace that functions use contains it. Whoever needs a removed part deletes its patch.
 */
export const UNUSED_CODE = {
  anthropic: withoutMembers("sdk/resources/messages/messages.mjs", ["parse", "stream"]),
  openai: [
    {
      file: "openai/client.mjs",
      from: /^ +this\.(?!chat\b|responses\b)\w+ = new API\.\w+\(this\);\n/gm,
      to: "",
      matches: 25,
    },
    { file: "openai/client.mjs", from: /^OpenAI\.\w+ = [A-Z]\w+;\n/gm, to: "", matches: 27 },
    ...withoutMembers("chat/completions/completions.mjs", ["parse", "runTools", "stream"]),
    ...withoutMembers("openai/resources/responses/responses.mjs", ["parse", "stream"]),
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
    ]),
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

/** Removes methods of a class, and properties that its constructor sets to async functions. */
function withoutMembers(file: string, names: readonly string[]): Patch[] {
  return names.map((name) => ({
    file,
    from: blockThat(String.raw`(?:(?:async )?${name}\(.*\)|this\.${name} = async \(.*\) =>)`),
    to: "",
  }));
}

/**
 * Matches from a line that opens a block to the line that closes it, which has the same
 * indentation.
 *
 * @param opening The first line, without its indentation and its ` {`.
 * @param inner A line that the block must contain, without its indentation.
 */
function blockThat(opening: string, inner?: string): RegExp {
  const lines = String.raw`(?:(?:\1 .*)?\n)*?`;
  const body = inner === undefined ? lines : String.raw`${lines}\1 +${inner}\n${lines}`;
  return new RegExp(String.raw`^( *)${opening} \{\n${body}\1\};?\n`, "gm");
}
