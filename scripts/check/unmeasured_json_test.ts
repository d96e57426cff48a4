import assert from "node:assert/strict";
import { unmeasuredJson } from "./unmeasured_json.ts";

Deno.test("unmeasuredJson() finds foreign JSON that is parsed without limits", () => {
  const source = `
    // JSON.parse(comment)
    const copy = JSON.parse(JSON.stringify(value));
    const schema = z.json();
    const body = JSON.parse(text);
    const answer = await response.json();`;

  assert.equal(unmeasuredJson("shared/platform/http/x.ts", source).length, 2);
  assert.deepEqual(unmeasuredJson("shared/platform/json/parse_json.ts", source), []);
});
