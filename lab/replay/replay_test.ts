import assert from "node:assert/strict";
import { join } from "node:path";
import { findRecordings } from "./find_recordings.ts";
import { replayRecording } from "./replay_recording.ts";

const CASSETTE = `
interactions:
- request: { method: POST, uri: https://api.example.com/v1/messages }
  response:
    status: { code: 200 }
    headers: { content-type: [application/json] }
    parsed_body:
      { type: message, role: assistant, content: [{ type: text, text: 'One, ' }],
        stop_reason: pause_turn, usage: { input_tokens: 1, output_tokens: 1 } }
- request: { method: GET, uri: https://example.com/picture.png }
  response: { status: { code: 200 }, body: { string: "no answer" } }
- request: { method: POST, uri: https://api.example.com/v1/messages }
  response:
    status: { code: 200 }
    parsed_body:
      { type: message, role: assistant, content: [{ type: text, text: two }],
        stop_reason: end_turn, usage: { input_tokens: 1, output_tokens: 1 } }
- request: { method: POST, uri: https://api.example.com/v1/chat/completions }
  response: { status: { code: 429 }, parsed_body: { error: { message: Too many } } }
`;

function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

async function replay(files: Readonly<Record<string, string>>) {
  const folder = await Deno.makeTempDir();
  try {
    for (const [path, text] of Object.entries(files)) {
      await Deno.mkdir(join(folder, path, ".."), { recursive: true });
      await Deno.writeTextFile(join(folder, path), text);
    }
    const outcomes = [];
    for await (const found of findRecordings([folder])) outcomes.push(await replayRecording(found));
    return outcomes.map(({ provider, problem }) => [provider, problem]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("answers of a cassette replay, one that pauses together with the next", async () => {
  assert.deepEqual(await replay({ "tests/cassettes/x.yaml": CASSETTE }), [
    ["example.com", null],
    ["example.com", null],
    ["example.com", null],
  ]);
});

Deno.test("a stream whose text our adapter does not return fails, and one that is cut off too", async () => {
  const item = { type: "message", content: [{ type: "output_text", text: "whole text" }] };
  const events = [
    line({ type: "response.output_text.delta", output_index: 0, delta: "text" }),
    line({ type: "response.output_item.done", output_index: 0, item }),
    line({ type: "response.completed", response: { status: "completed" } }),
  ];
  const folder = "packages/acme/src/__fixtures__";

  const outcomes = await replay({
    [`${folder}/differs.chunks.txt`]: events.join(""),
    [`${folder}/cut.chunks.txt`]: events.slice(0, 2).join(""),
    [`${folder}/whole.chunks.txt`]: events.slice(1).join(""),
    [`${folder}/other.json`]: line({ data: [{ embedding: [1] }] }),
  });

  const problems = Object.fromEntries(outcomes.map(([, problem], place) => [place, problem]));
  assert.match(String(problems[0]), /^MODEL_UNAVAILABLE: .*cut off/);
  assert.equal(problems[1], "another text");
  assert.equal(problems[2], null);
  assert.equal(outcomes.length, 3, "an answer of another kind is no recording");
});
