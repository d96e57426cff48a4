import type { JsonValue } from "../../../shared/platform/values/json.ts";

/** A result as servers send it, and what of it has to arrive. */
export interface ResultCase {
  readonly name: string;
  readonly result: JsonValue;
  /** Texts of the answer. */
  readonly kept: readonly string[];
  /** What the answer says about the rest; null if there is nothing to say. */
  readonly said: RegExp | null;
  /** The stateless protocol allows it. @default false */
  readonly isValidWithoutSession?: boolean;
}

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const ok = { type: "text", text: "ok" };

/** Results of calls that bend the protocol. */
export const CALL_RESULTS: readonly ResultCase[] = [
  {
    name: "null for every absent member",
    result: {
      content: [{ type: "text", text: "ok", annotations: null, _meta: null }],
      structuredContent: null,
      isError: null,
      _meta: null,
    },
    kept: ["ok"],
    said: null,
  },
  {
    name: "null within annotations and links",
    result: {
      content: [
        { ...ok, annotations: { audience: null, priority: null, lastModified: null } },
        {
          type: "resource_link",
          uri: "file:///a",
          name: "a",
          mimeType: null,
          size: null,
          icons: null,
        },
        {
          type: "resource",
          resource: { uri: "file:///b", text: "body", mimeType: null, blob: null },
        },
      ],
    },
    kept: ["ok", "file:///a", "body"],
    said: null,
  },
  { name: "null between blocks", result: { content: [null, ok] }, kept: ["ok"], said: null },
  {
    name: "a block of an unknown type",
    result: { content: [{ type: "chart", foo: 17 }, ok] },
    kept: ["ok", '"foo":17'],
    said: /content\[0\] is a block of type 'chart' that cannot be read, shown as text/,
  },
  {
    name: "a block without a type",
    result: { content: [{ text: "ok" }] },
    kept: ["ok"],
    said: /content\[0\].type is missing/,
  },
  {
    name: "a type in capitals",
    result: { content: [{ type: "TEXT", text: "ok" }] },
    kept: ["ok"],
    said: /'TEXT'/,
  },
  {
    name: "texts instead of blocks",
    result: { content: ["one", ok] },
    kept: ["one", "ok"],
    said: /content\[0\] is 'one'/,
  },
  {
    name: "content as a text",
    result: { content: "hello" },
    kept: ["hello"],
    said: /content is 'hello' instead of a list/,
  },
  {
    name: "content as one block",
    result: { content: ok },
    kept: ["ok"],
    said: /content is an object/,
  },
  { name: "content as a number", result: { content: 42 }, kept: ["42"], said: /content is 42/ },
  {
    name: "content null beside structure",
    result: { content: null, structuredContent: { n: 5 } },
    kept: ['"n":5'],
    said: null,
  },
  {
    name: "no content beside structure",
    result: { structuredContent: { n: 5 } },
    kept: ['"n":5'],
    said: null,
  },
  {
    name: "the result of the first protocol version",
    result: { toolResult: { n: 5 } },
    kept: ['"n":5'],
    said: /content is missing/,
  },
  { name: "a result that is a text", result: "hello", kept: ["hello"], said: /content is 'hello'/ },
  { name: "a result that is a list of blocks", result: [ok], kept: ["ok"], said: null },
  { name: "a result that is a number", result: 42, kept: ["42"], said: /42/ },
  { name: "a result that is null", result: null, kept: [], said: /the result is null or missing/ },
  { name: "an empty result", result: {}, kept: [], said: null },
  {
    name: "text that is a number",
    result: { content: [{ type: "text", text: 42 }] },
    kept: ["42"],
    said: /text is 42/,
  },
  {
    name: "text that is an object",
    result: { content: [{ type: "text", text: { n: 5 } }] },
    kept: ['"n":5'],
    said: /content\[0\].text is an object/,
  },
  {
    name: "text that is null",
    result: { content: [{ type: "text", text: null }, ok] },
    kept: ["ok"],
    said: /content\[0\].text is null/,
  },
  {
    name: "an image as a data URL",
    result: { content: [ok, { type: "image", data: `data:image/png;base64,${PNG}` }] },
    kept: ["ok", "image/png"],
    said: /mimeType/,
  },
  {
    name: "an image without a type",
    result: { content: [ok, { type: "image", data: PNG, mimeType: null }] },
    kept: ["ok", "image/png"],
    said: /mimeType is null, read as 'image\/png'/,
  },
  {
    name: "an image in lines of base64",
    result: {
      content: [ok, {
        type: "image",
        data: PNG.replace(/.{40}/g, "$&\r\n"),
        mimeType: "image/png",
      }],
    },
    kept: ["ok", "image/png"],
    said: null,
  },
  {
    name: "an image that is no base64",
    result: { content: [ok, { type: "image", data: "§§", mimeType: "image/png" }] },
    kept: ["ok", "§§"],
    said: /content\[1\] is a block of type 'image'/,
  },
  {
    name: "an image that is missing",
    result: { content: [ok, { type: "image", url: "https://a.example/b" }] },
    kept: ["ok", "https://a.example/b"],
    said: /content\[1\]/,
  },
  {
    name: "a resource without an address",
    result: { content: [{ type: "resource", resource: { text: "body" } }] },
    kept: ["body"],
    said: /resource.uri is missing/,
  },
  {
    name: "a resource that is a text",
    result: { content: [ok, { type: "resource", resource: "body" }] },
    kept: ["ok", "body"],
    said: /content\[1\]/,
  },
  {
    name: "a link without a name",
    result: { content: [{ type: "resource_link", uri: "file:///a" }] },
    kept: ["file:///a"],
    said: null,
  },
  {
    name: "annotations out of their limits",
    result: {
      content: [{
        ...ok,
        annotations: { audience: ["human"], priority: 7, lastModified: "yesterday" },
      }],
    },
    kept: ["ok"],
    said: /priority is 7/,
  },
  {
    name: "annotations that are a text",
    result: { content: [{ ...ok, annotations: "none" }] },
    kept: ["ok"],
    said: /annotations is 'none'/,
  },
  {
    name: "an empty list for an empty object",
    result: { content: [{ ...ok, _meta: [], annotations: [] }], _meta: [], structuredContent: {} },
    kept: ["ok"],
    said: null,
  },
  {
    name: "isError as a text",
    result: { content: [ok], isError: "false" },
    kept: ["ok"],
    said: /isError is 'false'/,
  },
  {
    name: "structure that is a list",
    result: { content: [ok], structuredContent: [1, 2] },
    kept: ["ok"],
    said: /structuredContent is a list, given as the member 'result'/,
    isValidWithoutSession: true,
  },
  {
    name: "structure that is a text",
    result: { content: [ok], structuredContent: "five" },
    kept: ["ok"],
    said: /structuredContent is 'five'/,
    isValidWithoutSession: true,
  },
  {
    name: "an unknown type of result",
    result: { resultType: "partial", content: [ok] },
    kept: ["ok"],
    said: /resultType is 'partial'/,
  },
  {
    name: "a request for input that asks nothing",
    result: { resultType: "input_required", content: [ok] },
    kept: ["ok"],
    said: /resultType is 'input_required'/,
  },
];
