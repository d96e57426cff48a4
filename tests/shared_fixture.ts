export type SharedTest<Fixture> = (fixture: Fixture, t: Deno.TestContext) => Promise<void> | void;

/**
 * For tests that share one fixture: the first test opens it, and it is closed after the last one,
 * so that a file boots once. Each test must use only its own rows.
 *
 * @returns A function that registers such a test, in place of `Deno.test`.
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
