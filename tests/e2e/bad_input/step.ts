/** Runs a step of a test. */
export type Step = (claim: string, body: () => Promise<void>) => Promise<boolean>;

/**
 * Returns a function whose steps may run at the same time. Deno allows that without its sanitizers;
 * those of the test apply to all steps.
 */
export function concurrentSteps(t: Deno.TestContext): Step {
  return (name, fn) =>
    t.step({ name, fn, sanitizeOps: false, sanitizeResources: false, sanitizeExit: false });
}
