import { checkVariants } from "./generated.ts";

/** A prime, so that the sample has each kind of change. */
const EVERY = 29;

Deno.test("a sample of the variants of what servers send costs nothing beside the changed part", async () => {
  await checkVariants(EVERY);
});
