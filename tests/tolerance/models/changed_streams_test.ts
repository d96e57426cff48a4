import assert from "node:assert/strict";
import { SwarmError } from "../../../shared/platform/errors/swarm_error.ts";
import type { JsonValue } from "../../../shared/platform/values/json.ts";
import { memberVariantsOf, type Variant } from "../variants.ts";
import { eventsOf, readAs, type Wire, WIRES } from "./read_as.ts";
import { STREAMED_ANSWERS } from "./streamed_answers.ts";
import { HAS, type PartName } from "./whole_answers.ts";

/** A stream is read with pauses. */
const AT_A_TIME = 100;

for (const wire of WIRES) {
  Deno.test(`${wire}: whichever member of a stream changes, the parts of its other events are kept`, async () => {
    const events = STREAMED_ANSWERS[wire].map(([, event]) => event);
    const variants = memberVariantsOf(events);
    const problems: string[] = [];
    let count = 0;
    await Promise.all(Array.from({ length: AT_A_TIME }, async () => {
      // All of them take from one iterator.
      for (const variant of variants) {
        problems.push(...await problemsOf(wire, variant));
        count++;
      }
    }));
    assert.deepEqual(problems, []);
    assert.ok(count > 400, `${count} changes`);
  });
}

async function problemsOf(wire: Wire, { path, change, document }: Variant): Promise<string[]> {
  const [place] = path;
  const [changed] = STREAMED_ANSWERS[wire][Number(place)] ?? [];
  const body = eventsOf(document as readonly JsonValue[]);
  const where = `${path.join(".")} ${change}`;
  try {
    const answered = await readAs(wire, {
      body,
      mediaType: "text/event-stream",
      isStreamAsked: true,
    });
    const beside = (Object.keys(HAS) as PartName[]).filter((name) => name !== changed);
    return beside.filter((name) => !HAS[name](answered))
      .map((name) => `${where}: no ${name} in ${JSON.stringify(answered)}`);
  } catch (error) {
    assert.ok(error instanceof SwarmError, `${where}: ${error}`);
    // Without its end, a stream may have been cut.
    const isRightly = changed === "end" && error.code === "MODEL_UNAVAILABLE";
    return isRightly ? [] : [`${where}: ${error.message}`];
  }
}
