import assert from "node:assert/strict";
import { comparableMs, threadCpuMs } from "../../../scripts/test/cpu_time.ts";
import { AnswerDeltas } from "./answer_deltas.ts";
import { MAX_PIECES } from "./answer_builder.ts";
import { OpenAiAnswerReader } from "./openai_answer.ts";
import type { ModelResponse } from "./model_port.ts";
import { type AnswerReader, readAnswer } from "./read_answer.ts";

const ENDPOINT = {
  api: "openai",
  providerName: "acme",
  baseUrl: null,
  apiKey: "sk-0123456789-abcdefghijklmnop",
} as const;
const DELTAS = new AnswerDeltas({ request: {}, onDelta: undefined, isDocument: false });
const TEXT = '{"choices":[{"delta":{"content":"a"}}]}';
const END = '{"choices":[{"finish_reason":"stop"}]}';
const MANY = 10_000;

function bodyOf(...chunks: string[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  return ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)));
}

async function read(...chunks: string[]): Promise<ModelResponse> {
  const reader = new OpenAiAnswerReader(ENDPOINT, DELTAS);
  await readAnswer(bodyOf(...chunks), reader);
  return reader.finish();
}

/** CPU time in milliseconds, comparable with a limit. */
async function cpuMsOf(work: () => Promise<unknown>, limitMs: number): Promise<number> {
  const beganAtMs = threadCpuMs();
  await work();
  return comparableMs(threadCpuMs() - beganAtMs, limitMs);
}

Deno.test("10,000 events that cannot be read cost less than half a second", async () => {
  const cpuMs = await cpuMsOf(async () => {
    const { text, unread } = await read(
      `data: ${TEXT}\n\n`,
      "data: busy\n\n".repeat(MANY),
      `data: ${END}\n\n`,
    );
    assert.equal(text, "a");
    assert.deepEqual(unread, ["an event that is not JSON: busy"]);
  }, 500);
  assert.ok(cpuMs < 500, `${cpuMs} ms`);
});

Deno.test("other work goes on while many lines of one event are read", async () => {
  const reader: AnswerReader = new OpenAiAnswerReader(ENDPOINT, DELTAS);
  let turns = 0;
  const timer = setInterval(() => void turns++, 0);
  const turnsAt: number[] = [];
  try {
    await readAnswer(bodyOf(`data: ${TEXT}\n`.repeat(5 * MANY)), {
      answer: reader.answer,
      read: (document) => {
        turnsAt.push(turns);
        reader.read(document);
      },
    });
  } finally {
    clearInterval(timer);
  }
  assert.equal(turnsAt.length, 5 * MANY);
  assert.ok((turnsAt.at(-1) ?? 0) > (turnsAt[0] ?? 0), `${turnsAt[0]} to ${turnsAt.at(-1)} turns`);
});

Deno.test("an answer with more events or parts than the limit is refused", async () => {
  const parts = `data: {"choices":[{"delta":{"content":[${"null,".repeat(999)}null]}}]}\n\n`;
  const many = [["data: x\n\n", MAX_PIECES + 1], ["data: {}\n", MAX_PIECES + 1], [parts, 200]];
  for (const [event, count] of many as [string, number][]) {
    await assert.rejects(read(event.repeat(count)), {
      code: "MODEL_OUTPUT_INVALID",
      message: /more than 200000 events and parts/,
    });
  }
});

Deno.test("white space that keeps a connection open before the answer costs time once", async () => {
  const blank = Array.from({ length: 500 }, () => " ".repeat(20_000));
  const document = '{"choices":[{"message":{"content":" a "},"finish_reason":"stop"}]} ';
  const cpuMs = await cpuMsOf(async () => {
    assert.equal((await read(...blank, document)).text, " a ");
  }, 500);
  assert.ok(cpuMs < 500, `${cpuMs} ms`);
});

Deno.test("chunks of white space within an answer keep it", async () => {
  const text = '{"choices":[{"delta":{"content":"  a';
  const { text: kept } = await read(
    "\ufeff \n",
    "data:",
    " ",
    text,
    "  ",
    'b "}}]}\n\n',
    `data: ${END}`,
  );
  assert.equal(kept, "  a  b ");
});
