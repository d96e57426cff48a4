import assert from "node:assert/strict";
import { countStatements } from "./statement_counter.ts";

function message(type: string, payload: Uint8Array): number[] {
  const length = new Uint8Array(4);
  new DataView(length.buffer).setInt32(0, payload.length + 4);
  return [...new TextEncoder().encode(type), ...length, ...payload];
}

Deno.test("countStatements() counts texts and executions, however the bytes are split", async () => {
  const text = new TextEncoder().encode("select 'E', 'Q'\0");
  const bytes = Uint8Array.from([
    ...message("", Uint8Array.from([4, 210, 22, 47])),
    ...message("", Uint8Array.from([0, 3, 0, 0, ...text])),
    ...message("Q", text),
    ...message("P", text),
    ...message("B", new Uint8Array(700)),
    ...message("E", new Uint8Array(5)),
    ...message("S", new Uint8Array()),
  ]);
  for (const size of [1, 7, bytes.length]) {
    let count = 0;
    const chunks = Array.from(
      { length: Math.ceil(bytes.length / size) },
      (_, n) => bytes.slice(n * size, (n + 1) * size),
    );

    const passed = await new Response(
      ReadableStream.from(chunks).pipeThrough(new TransformStream(countStatements(() => count++))),
    ).bytes();

    assert.equal(count, 2);
    assert.deepEqual(passed, bytes);
  }
});
