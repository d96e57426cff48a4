import assert from "node:assert/strict";
import { widenedJson } from "./widened_json.ts";

Deno.test("widenedJson() finds JSON that is written with white space", () => {
  const source = `
    // JSON.stringify(comment, null, 2)
    const compact = JSON.stringify(value);
    const measured = JSON.stringify(tree, (name, value) => MEASURED.has(name) ? undefined : value);
    const wide = JSON.stringify(value, null, 2);
    const wider = JSON.stringify({ a: f(b(c)) },
      undefined, "\\t");`;

  assert.equal(widenedJson("shared/engine/x.ts", source).length, 2);
  assert.deepEqual(widenedJson("client/json_text.ts", source), []);
});

Deno.test("widenedJson() finds SQL that lays JSON out", () => {
  const source = `
    -- jsonb_pretty(comment)
    select jsonb_pretty(value), value::text, 'jsonb_pretty' as name;`;

  assert.equal(widenedJson("supabase/schemas/engine/x.sql", source).length, 1);
});
