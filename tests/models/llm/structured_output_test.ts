import assert from "node:assert/strict";
import { createModelAdapter } from "../../../shared/models/llm/create_model_adapter.ts";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import type { ModelRequest, ModelResponse } from "../../../shared/models/llm/model_port.ts";
import { ADD_TOOL, call, request, TEST_KEY } from "./tested_model.ts";
import { beginStream, endStream, respond, startRawServer } from "./raw_server.ts";
import { formatOf, WIRE_FORMATS, type WireAnswer, type WireFormat } from "./wire_format.ts";

const SCHEMA = {
  type: "object",
  properties: { name: { type: "string" }, people: { type: "integer" } },
  required: ["name"],
  additionalProperties: false,
};
/** The output of a provider that enforces the schema: absent fields are null. */
const ENFORCED = { name: "Bern", people: null };

/** The request of the model, the parsed answer, and its streamed text. */
interface Asked {
  readonly body: JsonObject;
  readonly response: ModelResponse;
  readonly deltas: readonly string[];
}

async function ask(
  format: WireFormat,
  changes: Partial<ModelRequest>,
  answer: WireAnswer,
  isStreamed = false,
): Promise<Asked> {
  const server = startRawServer(async (connection) => {
    if (!isStreamed) {
      return await respond(connection, { body: JSON.stringify(format.whole(answer)) });
    }
    await beginStream(connection, format.events(answer));
    await endStream(connection);
  });
  const deltas: string[] = [];
  const listener = isStreamed ? { onDelta: (text: string) => void deltas.push(text) } : {};
  try {
    const response = await call(format, server.origin, request(changes), listener);
    return { body: JSON.parse(server.requests[0]?.body ?? ""), response, deltas };
  } finally {
    await server.stop();
  }
}

/** The schema that a request asks the provider to enforce; undefined if there is none. */
function enforcedSchema(body: JsonObject): JsonObject | undefined {
  const { response_format, output_config, generationConfig } = body as Record<string, JsonObject>;
  const openAi = response_format?.json_schema as JsonObject | undefined;
  const anthropic = output_config?.format as JsonObject | undefined;
  return (openAi?.schema ?? anthropic?.schema ?? generationConfig?.responseJsonSchema) as
    | JsonObject
    | undefined;
}

Deno.test("google: a model before Gemini 3 gets no schema beside tools, but one without tools", async () => {
  const format = formatOf("google");
  const output = { schema: SCHEMA, isBesideTools: true };
  for (const model of ["gemini-2.5-flash", "models/gemini-2.0-flash"]) {
    const beside = await ask(format, { model, output, tools: [ADD_TOOL] }, { text: "{}" });
    const alone = await ask(format, { model, output }, { text: JSON.stringify(ENFORCED) });

    assert.equal(enforcedSchema(beside.body), undefined);
    assert.ok(enforcedSchema(alone.body) !== undefined);
  }
});

Deno.test("google: Gemini 3 gets a schema beside tools, calls them, and its result has its original form", async () => {
  const format = formatOf("google");
  const parts = { output: { schema: SCHEMA, isBesideTools: true }, tools: [ADD_TOOL] };
  const model = "gemini-3.8-flash";
  const calls = [{ name: "add", argumentsText: '{"n":1}' }];

  const calling = await ask(format, { model, ...parts }, { text: "", calls });
  const ending = await ask(format, { model, ...parts }, { text: JSON.stringify(ENFORCED) });

  assert.ok(enforcedSchema(calling.body) !== undefined);
  assert.deepEqual(calling.response.tool_calls.map(({ name }) => name), ["add"]);
  assert.deepEqual(JSON.parse(ending.response.text), { name: "Bern" });
});

for (const format of WIRE_FORMATS) {
  for (const isStreamed of [false, true]) {
    const mode = `${format.api} (${isStreamed ? "streamed" : "whole"})`;

    Deno.test(`${mode}: enforces the schema of an answer, and returns it in its original form`, async () => {
      const output = { schema: SCHEMA, isBesideTools: false };

      const { body, response, deltas } = await ask(
        format,
        { output },
        { text: JSON.stringify(ENFORCED) },
        isStreamed,
      );

      assert.deepEqual(enforcedSchema(body)?.required, ["name", "people"]);
      assert.deepEqual(JSON.parse(response.text), { name: "Bern" });
      assert.deepEqual(deltas, []);
    });
  }

  Deno.test(`${format.api}: keeps tools callable when it enforces a schema`, async () => {
    const output = { schema: SCHEMA, isBesideTools: true };

    const { body } = await ask(format, { output, tools: [ADD_TOOL] }, { text: "{}" });

    // Compatible servers would apply the schema to every answer.
    assert.equal(enforcedSchema(body) !== undefined, format.api !== "openai");
  });

  Deno.test(`${format.api}: requests no schema that it cannot enforce`, async () => {
    const open = { type: "object", additionalProperties: { type: "string" } };
    const root = { type: "array", items: { type: "string" } };
    for (const schema of [open, root]) {
      const output = { schema, isBesideTools: false };

      const { body, response } = await ask(format, { output }, { text: "[]" });

      assert.equal(enforcedSchema(body), undefined);
      assert.equal(response.text, "[]");
    }
  });

  Deno.test(`${format.api}: streams the final answer from its argument as text`, async () => {
    const text = 'It is "Bern",\n🐝';
    const calls = [{
      name: "complete_task",
      argumentsText: JSON.stringify({ output: text }),
    }, { name: "add", argumentsText: '{"output":"other"}' }];
    const streamedArgument = { tool: "complete_task", argument: "output" };

    const { deltas, response } = await ask(
      format,
      { streamedArgument, tools: [ADD_TOOL] },
      { text: "Done.", calls },
      true,
    );

    assert.equal(deltas.join(""), `Done.\n\n${text}`);
    assert.deepEqual(response.tool_calls[0]?.arguments, { output: text });
  });
}

Deno.test("openai: OpenAI itself enforces the schema of an answer next to tools", async () => {
  const bodies: JsonObject[] = [];
  const adapter = await createModelAdapter({
    api: "openai",
    providerName: "openai",
    baseUrl: null,
    apiKey: TEST_KEY,
  }, {
    fetch: (_, init) => {
      bodies.push(JSON.parse(String(init?.body)));
      const answer = formatOf("openai").whole({ text: JSON.stringify(ENFORCED) });
      return Promise.resolve(Response.json(answer));
    },
  });

  await adapter.generate(
    request({ output: { schema: SCHEMA, isBesideTools: true }, tools: [ADD_TOOL] }),
    { signal: new AbortController().signal },
  );

  assert.deepEqual(enforcedSchema(bodies[0] ?? {})?.required, ["name", "people"]);
});
