/** What a test on a shared fixture does. */
export type SharedTest<Fixture> = (fixture: Fixture, t: Deno.TestContext) => Promise<void> | void;

/**
 * For tests that share one fixture: it is opened by the first of them that runs and closed after
 * the last, so that a file boots once. Each test has to find only rows of its own.
 *
 * @returns What registers such a test, in place of `Deno.test`.
 */
export function testsSharing<Fixture extends AsyncDisposable>(
  open: () => Promise<Fixture>,
): (claim: string, body: SharedTest<Fixture>) => void {
  let opened: Promise<Fixture> | undefined;
  Deno.test.afterAll(async () => {
    await (await opened)?.[Symbol.asyncDispose]();
  });
  return (claim, body) => Deno.test(claim, async (t) => await body(await (opened ??= open()), t));
}
