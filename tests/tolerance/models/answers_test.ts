import assert from "node:assert/strict";
import { SwarmError } from "../../../shared/platform/errors/swarm_error.ts";
import { ANSWERS } from "./answers.ts";
import { eventsOf, readAs, requestAfter, type SentAnswer, type Wire, WIRES } from "./read_as.ts";

for (const { name, wire, sent, kept, said = [] } of ANSWERS) {
  Deno.test(`${wire}: an answer is read as far as it can be: ${name}`, async () => {
    const answered = await readAs(wire, sent);

    const { tool_calls: calls, ...others } = kept;
    for (const [member, value] of Object.entries(others)) {
      assert.deepEqual(answered[member as keyof typeof answered], value, member);
    }
    const made = answered.tool_calls.map(({ call_id: _, ...call }) => call);
    assert.deepEqual(made, (calls ?? []).map(({ call_id: _, ...call }) => call));
    const unread = answered.unread ?? [];
    assert.equal(unread.length, said.length, unread.join("\n"));
    said.forEach((pattern, index) => assert.match(unread[index] ?? "", pattern));
  });
}

for (const { wire, name, sent } of ANSWERS.filter(({ name }) => name.startsWith("ids "))) {
  Deno.test(`${wire}: each result of the next request belongs to one call: ${name}`, async () => {
    const answered = await readAs(wire, sent);
    const next = await requestAfter(wire, answered);

    const ids = answered.tool_calls.map(({ call_id }) => call_id);
    assert.equal(new Set(ids).size, ids.length);
    // Gemini gets only the ids that it has given, and matches the others by their order.
    const given = wire === "google" ? ids.slice(1) : ids;
    for (const id of given) assert.equal(next.split(`"${id}"`).length - 1, 2, `${id} in ${next}`);
    assert.ok(!/"(id|call_id|tool_call_id)":null/.test(next), next);
  });
}

/** Answers of which nothing can be used. */
const UNUSABLE: readonly (readonly [string, SentAnswer, string, RegExp])[] = [
  ["an empty object", { body: {} }, "MODEL_UNAVAILABLE", /its answer is empty/],
  ["null", { body: "null" }, "MODEL_UNAVAILABLE", /./],
  ["a text", { body: '"busy"' }, "MODEL_OUTPUT_INVALID", /./],
  ["a document that is cut", { body: '{"choices":[{"mess' }, "MODEL_OUTPUT_INVALID", /not JSON/],
  [
    "an error with status 200",
    { body: { error: { message: "busy", type: "overloaded_error" } } },
    "MODEL_UNAVAILABLE",
    /busy/,
  ],
  ["an error as text", { body: { error: "busy" } }, "MODEL_UNAVAILABLE", /busy/],
  [
    "an error in a list",
    { body: [{ error: { code: 429, message: "slow down" } }] },
    "MODEL_RATE_LIMITED",
    /slow down/,
  ],
  [
    "an error in a stream",
    {
      body: `event: error\n${
        eventsOf([{ error: { type: "rate_limit_error", message: "slow down" } }])
      }`,
      mediaType: "text/event-stream",
      isStreamAsked: true,
    },
    "MODEL_RATE_LIMITED",
    /slow down/,
  ],
];

for (const wire of WIRES) {
  for (const [name, sent, code, message] of UNUSABLE) {
    Deno.test(`${wire}: an unusable answer is reported as what it is: ${name}`, async () => {
      const error = await readAs(wire, sent).catch((thrown) => thrown);

      assert.ok(error instanceof SwarmError, String(error));
      assert.equal(error.code, code);
      assert.match(error.message, message);
    });
  }
}

/** The beginning of a stream with a call, which then lacks a piece or its end. */
const BEGINNINGS: Readonly<Record<Wire, string>> = {
  chat: eventsOf([{
    choices: [{ delta: { tool_calls: [{ id: "c", function: { name: "add", arguments: "" } }] } }],
  }]),
  responses: eventsOf([{
    type: "response.output_item.added",
    item: { type: "function_call", name: "add", call_id: "c" },
  }]),
  anthropic: eventsOf([{
    type: "content_block_start",
    content_block: { type: "tool_use", id: "c", name: "add", input: {} },
  }]),
  google: eventsOf([{ candidates: [{ content: { parts: [{ functionCall: { name: "add" } }] } }] }]),
};

for (const wire of WIRES) {
  const options = { mediaType: "text/event-stream", isStreamAsked: true };

  Deno.test(`${wire}: a call whose stream lost a piece is not made`, async () => {
    const body = `${BEGINNINGS[wire]}data: {"choices":[{"del\n\ndata: [DONE]\n\n`;

    await assert.rejects(readAs(wire, { body, ...options }), {
      code: "MODEL_OUTPUT_INVALID",
      message: /its tool calls may be incomplete/,
    });
  });

  Deno.test(`${wire}: a call whose stream ends without an end is not made`, async () => {
    await assert.rejects(readAs(wire, { body: BEGINNINGS[wire], ...options }), {
      code: "MODEL_UNAVAILABLE",
      message: /cut off/,
    });
  });
}
