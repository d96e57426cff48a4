import assert from "node:assert/strict";
import { malformedArgumentsResult } from "./malformed_call.ts";

Deno.test("the model learns why its arguments could not be used", () => {
  const textOf = (malformed: string) =>
    String(
      malformedArgumentsResult({ call_id: "c1", name: "pay", arguments: null, malformed }).output
        .text,
    );

  assert.match(textOf('{"to": '), /not a JSON object; they begin with: \{"to": /);
  assert.match(textOf('{"to": 9007199254740993}'), /whole number .* round.* as text/s);
});
