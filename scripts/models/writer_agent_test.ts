import assert from "node:assert/strict";
import type { ScriptedMessage, ScriptedRequest } from "./scripted_agent.ts";
import { writerAgent } from "./writer_agent.ts";

const ASKED: ScriptedMessage = {
  role: "assistant",
  text: "",
  calls: [{ callId: "1", name: "request_human_review", argumentsText: "{}" }],
};

function request(input: string, ...messages: ScriptedMessage[]): ScriptedRequest {
  return {
    agent: "writer",
    model: "demo",
    system: "You write a short announcement about the topic in the input.",
    messages: [{ role: "user", text: input }, ...messages],
    toolNames: [],
    toolDescriptions: new Map(),
  };
}

function answered(review: object): ScriptedMessage[] {
  const text = JSON.stringify(review);
  return [ASKED, { role: "tool", callId: "1", name: "request_human_review", text }];
}

Deno.test("the writer requests a review of its draft first", async () => {
  const { toolCalls = [] } = await writerAgent.answer(request('{"topic": "we have webhooks"}'));

  assert.deepEqual(toolCalls.map(({ name }) => name), ["request_human_review"]);
  assert.match(JSON.stringify(toolCalls[0]?.arguments), /We have webhooks\./);
});

Deno.test("the writer completes with the approved draft, and without one after a rejection", async () => {
  const approved = answered({ approved: true, comments: "Good." });
  const rejected = answered({ approved: false, comments: "Not yet." });

  const outputs = await Promise.all([approved, rejected].map(async (messages) => {
    const { toolCalls = [] } = await writerAgent.answer(request('"we have webhooks"', ...messages));
    return toolCalls[0]?.arguments.output;
  }));

  assert.deepEqual(outputs, [
    {
      announcement: "We have webhooks. Try it today and tell us what you think.",
      review: "Good.",
    },
    { announcement: null, review: "Not yet." },
  ]);
});

Deno.test("the writer refuses an input without a topic and explains what it needs", () => {
  assert.throws(() => writerAgent.answer(request("{}")), /\{"topic": /);
});
