import assert from "node:assert/strict";
import type { ModelResponse } from "../../../shared/models/llm/model_port.ts";
import { SwarmError } from "../../../shared/platform/errors/swarm_error.ts";
import { memberVariantsOf, type Variant } from "../variants.ts";
import { readAs, requestAfter, type Wire, WIRES } from "./read_as.ts";
import { HAS, type PartName, WHOLE_ANSWERS } from "./whole_answers.ts";

/** Values of which nothing has to be named: they say nothing, or have members that no API lists. */
const NOTHING = [
  ...["absent", "null", "an empty text", "an empty object", "an empty list", "a long list"],
  "an object",
];

for (const wire of WIRES) {
  const { document, parts, decisive } = WHOLE_ANSWERS[wire];
  const names = Object.keys(parts) as PartName[];
  const isDecisive = ({ path }: Variant) => decisive.some((one) => isWithin(path, one));
  const isBeside = ({ path }: Variant, name: PartName) =>
    !isWithin(path, parts[name]) && !isWithin(parts[name], path);

  Deno.test(`${wire}: whichever member of an answer changes, the parts beside it are kept and losses named`, async () => {
    const problems: string[] = [];
    let count = 0;
    let without = "";
    for (const variant of memberVariantsOf(document)) {
      const where = `${variant.path.join(".")} ${variant.change}`;
      const beside = names.filter((name) => isBeside(variant, name));
      const answered = await readAs(wire, { body: variant.document }).catch((error) => {
        assert.ok(error instanceof SwarmError, `${where}: ${error}`);
        if (beside.length > 0 && !isDecisive(variant)) problems.push(`${where}: ${error.message}`);
        return null;
      });
      count++;
      if (variant.change === "absent") without = shown(answered);
      if (answered === null || isDecisive(variant)) continue;
      for (const name of beside) {
        if (!HAS[name](answered)) problems.push(`${where}: no ${name} in ${shown(answered)}`);
      }
      const isLost = names.some((name) => !beside.includes(name) && !HAS[name](answered));
      const isNamed = answered.unread !== undefined || shown(answered) !== without;
      if (isLost && !isNamed && !NOTHING.includes(variant.change)) {
        problems.push(`${where}: not named`);
      }
      await checkNext(wire, answered, where);
    }
    assert.deepEqual(problems, []);
    assert.ok(count > 500, `${count} changes`);
  });
}

/** What follows an answer works with any of them. */
async function checkNext(wire: Wire, answered: ModelResponse, where: string): Promise<void> {
  const ids = answered.tool_calls.map(({ call_id }) => call_id);
  assert.equal(new Set(ids).size, ids.length, `${where}: ${ids}`);
  assert.ok(answered.tool_calls.every(({ call_id, name }) => call_id !== "" && name !== ""), where);
  for (const count of Object.values(answered.usage)) {
    assert.ok(Number.isInteger(count) && count >= 0, `${where}: ${shown(answered)}`);
  }
  assert.notEqual(await requestAfter(wire, answered), "", where);
}

function isWithin(
  path: readonly (string | number)[],
  outer: readonly (string | number)[],
): boolean {
  return outer.every((name, place) => path[place] === name);
}

/** What of an answer does not change from one reading to the next. */
function shown(answered: ModelResponse | null): string {
  if (answered === null) return "nothing";
  const { text, reasoning, tool_calls, unread } = answered;
  const calls = tool_calls.map(({ call_id: _, ...call }) => call);
  return JSON.stringify({ text, reasoning, calls, unread }).slice(0, 600);
}
