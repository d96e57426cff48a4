import assert from "node:assert/strict";
import { CALL_RESULTS } from "./call_results.ts";
import { callPeer, ERAS, openPeer, respond } from "./peer.ts";

for (const era of ERAS) {
  for (const { name, result, kept, ...given } of CALL_RESULTS) {
    const isValid = given.isValidWithoutSession === true && era === "stateless";
    const said = isValid ? null : given.said;
    Deno.test(`a ${era} server's result is an answer: ${name}`, async () => {
      const peer = openPeer(era, (request) => respond(request, result));

      const answer = await callPeer(peer);

      assert.equal(answer.kind, "answered");
      const { text, isError } = answer as Extract<typeof answer, { kind: "answered" }>;
      for (const part of kept) assert.ok(text.includes(part), `${part} is missing in: ${text}`);
      if (said === null) assert.doesNotMatch(text, /Note on this answer/);
      else assert.match(text, said);
      assert.equal(isError, false);
      assert.equal(peer.seen.length, 1);
    });
  }
}
