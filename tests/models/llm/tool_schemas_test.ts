import assert from "node:assert/strict";
import { definedOnly } from "../../../shared/platform/values/defined_only.ts";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import type { ModelMessage, ModelTool } from "../../../shared/models/llm/model_port.ts";
import { beginStream, endStream, respond, startRawServer } from "./raw_server.ts";
import { call, request } from "./tested_model.ts";
import { formatOf, WIRE_FORMATS, type WireFormat } from "./wire_format.ts";

/** Its first property has a name that no provider accepts, and is optional. */
const SEARCH: ModelTool = {
  name: "search",
  description: "Searches.",
  inputSchema: {
    type: "object",
    properties: {
      "filter[name]": { type: "string", default: "all" },
      limit: { type: ["integer", "null"] },
      query: { type: "string" },
    },
    required: ["query"],
  },
};
const KEEP: ModelTool = {
  name: "keep",
  description: "Keeps anything.",
  inputSchema: { type: "object", properties: { value: {} }, required: ["value"] },
};
const UNUSABLE: ModelTool = {
  name: "unusable",
  description: "Refers to elsewhere.",
  inputSchema: { type: "object", properties: { a: { $ref: "https://example.com/a.json" } } },
};

const CALLS = [
  { name: "search", argumentsText: '{"query":"x","filter_name":null,"limit":null}' },
  { name: "search", argumentsText: '{"query":"y","filter_name":"z"}' },
  { name: "keep", argumentsText: '{"value":null}' },
];

/** Calls a server that makes {@linkcode CALLS}; returns its request and the parsed answer. */
async function ask(
  format: WireFormat,
  options: { isStreamed?: boolean; isBasic?: boolean; messages?: readonly ModelMessage[] } = {},
) {
  const { isStreamed = false, isBasic = false, messages } = options;
  const server = startRawServer(async (connection) => {
    if (!isStreamed) {
      return await respond(connection, { body: JSON.stringify(format.whole({ calls: CALLS })) });
    }
    await beginStream(connection, format.events({ calls: CALLS }));
    await endStream(connection);
  });
  try {
    const asked = request({
      tools: [SEARCH, UNUSABLE, KEEP],
      hasBasicTools: isBasic,
      ...definedOnly({ messages }),
    });
    const listener = isStreamed ? { onDelta: () => {} } : {};
    const response = await call(format, server.origin, asked, listener);
    return { sent: JSON.parse(server.requests[0]?.body ?? "null"), response };
  } finally {
    await server.stop();
  }
}

const OPTIONAL_NAME = {
  type: "string",
  description: 'Default: "all". The tool calls this "filter[name]".',
};

Deno.test("openai receives a strict function if the schema allows it, otherwise the complete schema", async () => {
  const { sent } = await ask(formatOf("openai"));

  assert.deepEqual(sent.tools, [
    {
      type: "function",
      function: {
        name: "search",
        description: "Searches.",
        strict: true,
        parameters: {
          type: "object",
          properties: {
            filter_name: { ...OPTIONAL_NAME, type: ["string", "null"] },
            limit: { type: ["integer", "null"] },
            query: { type: "string" },
          },
          required: ["filter_name", "limit", "query"],
          additionalProperties: false,
        },
      },
    },
    {
      type: "function",
      function: {
        name: "keep",
        description: "Keeps anything.",
        strict: false,
        parameters: KEEP.inputSchema,
      },
    },
  ]);
});

Deno.test("openai: basic tools have no strict mode", async () => {
  const { sent } = await ask(formatOf("openai"), { isBasic: true });

  const [search] = sent.tools;
  assert.equal("strict" in search.function, false);
  assert.deepEqual(search.function.parameters.required, ["query"]);
});

Deno.test("anthropic receives the schema", async () => {
  const { sent } = await ask(formatOf("anthropic"));

  const [search, keep, ...others] = sent.tools;
  assert.deepEqual(others, []);
  assert.deepEqual(search.input_schema.required, ["query"]);
  assert.equal(search.input_schema.properties.filter_name.default, "all");
  assert.deepEqual(keep, {
    name: "keep",
    description: "Keeps anything.",
    input_schema: KEEP.inputSchema,
  });
});

Deno.test("gemini receives JSON Schema with names that it accepts", async () => {
  const { sent } = await ask(formatOf("google"));

  const [{ functionDeclarations: [search, keep] }] = sent.tools;
  assert.equal("parameters" in search, false);
  assert.deepEqual(search.parametersJsonSchema, {
    type: "object",
    properties: {
      filter_name: OPTIONAL_NAME,
      limit: { type: ["integer", "null"] },
      query: { type: "string" },
    },
    required: ["query"],
  });
  assert.deepEqual(keep.parametersJsonSchema, KEEP.inputSchema);
});

for (const format of WIRE_FORMATS) {
  for (const isStreamed of [false, true]) {
    const mode = isStreamed ? "streamed" : "whole";
    Deno.test(`${format.api} (${mode}): arguments are returned in the tools' form`, async () => {
      const { response } = await ask(format, { isStreamed });

      assert.deepEqual(response.tool_calls.map((made) => made.arguments), [
        { query: "x", limit: null },
        { query: "y", "filter[name]": "z" },
        { value: null },
      ]);
    });
  }

  Deno.test(`${format.api}: earlier calls have the names that the model knows`, async () => {
    const made: JsonObject = { query: "q", "filter[name]": "n" };
    const messages: ModelMessage[] = [
      { role: "user", text: "Search" },
      {
        role: "assistant",
        text: "",
        tool_calls: [{ call_id: "c1", name: "search", arguments: made }],
      },
      { role: "tool", call_id: "c1", name: "search", text: "none", is_error: false },
    ];

    const { sent } = await ask(format, { messages });

    const history = JSON.stringify(sent.messages ?? sent.contents).replaceAll("\\", "");
    assert.match(history, /"filter_name":"n"/);
    assert.doesNotMatch(history, /filter\[name\]/);
  });
}
