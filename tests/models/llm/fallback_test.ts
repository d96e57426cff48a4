import assert from "node:assert/strict";
import { createModelCaller } from "../../../shared/models/llm/call_model.ts";
import { createModelAdapter } from "../../../shared/models/llm/create_model_adapter.ts";
import { beginStream, endStream, respond, startRawServer } from "./raw_server.ts";
import { ADD_TOOL, TEST_KEY } from "./tested_model.ts";
import { WIRE_FORMATS, type WireFormat } from "./wire_format.ts";

const callModel = createModelCaller({
  resolveKey: () => Promise.resolve({ secret: TEST_KEY, keySource: "organisation" }),
  createAdapter: (endpoint) => createModelAdapter(endpoint),
});

function providerAt(origin: string, format: WireFormat, name: string) {
  const base_url = format.baseUrl(origin);
  return { id: name, name, api: format.api, base_url, default_model: `${name}-large` };
}

for (const broken of WIRE_FORMATS) {
  for (const working of WIRE_FORMATS) {
    for (const isStreamed of [false, true]) {
      const mode = isStreamed ? "streamed" : "whole";
      Deno.test(`a ${working.api} server replaces an overloaded ${broken.api} one (${mode})`, async () => {
        const first = startRawServer((connection) =>
          respond(connection, { status: 503, body: '{"error":{"message":"Overloaded"}}' })
        );
        const second = startRawServer(async (connection) => {
          const answer = { text: "From the second" };
          if (!isStreamed) {
            return await respond(connection, { body: JSON.stringify(working.whole(answer)) });
          }
          await beginStream(connection, working.events(answer));
          await endStream(connection);
        });
        let fallbacks = 0;
        const deltas: string[] = [];

        const { answer, usage } = await callModel({
          provider: providerAt(first.origin, broken, "first"),
          fallbacks: [{ provider: providerAt(second.origin, working, "second"), model: null }],
          onFallback: () => void fallbacks++,
          settings: { model: "first-small", temperature: null, max_tokens: null },
          userId: null,
          prompt: { system: "", messages: [{ role: "user", text: "Hello" }], tools: [ADD_TOOL] },
          signal: new AbortController().signal,
          ...(isStreamed ? { onDelta: (text: string) => void deltas.push(text) } : {}),
        });
        await Promise.all([first.stop(), second.stop()]);

        assert.equal(answer.text, "From the second");
        assert.deepEqual([usage.provider_id, usage.model], ["second", "second-large"]);
        assert.deepEqual(usage.passed_over, [
          { provider: "first", model: "first-small", code: "MODEL_UNAVAILABLE" },
        ]);
        assert.equal(fallbacks, 1);
        assert.equal(deltas.join(""), isStreamed ? "From the second" : "");
        assert.deepEqual([first.requests.length, second.requests.length], [1, 1]);
      });
    }
  }
}
