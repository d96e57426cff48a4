import assert from "node:assert/strict";
import { decisionFor, readDecisions } from "./stored_decisions.ts";

Deno.test("stored transcripts are continued as they were, unless a change is declared", async () => {
  const { transcripts } = await readDecisions();
  assert.ok(transcripts.length > 20);
  for (const { context, decision } of transcripts) {
    const { summary, text } = decisionFor(context);
    assert.equal(
      summary,
      decision,
      `Tasks that older workers began would go on differently. If they should, declare it: ` +
        `deno task decisions:record --because "…". The decision is now ${text}`,
    );
  }
});
