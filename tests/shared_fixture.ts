export type SharedTest<Fixture> = (fixture: Fixture, t: Deno.TestContext) => Promise<void> | void;

/**
 * For tests that share one fixture: the first test opens it, and it is closed after the last one,
 * so that a file boots once, and does not keep it while other files run in the same process. Each
 * test must use only its own rows.
 *
 * @returns A function that registers such a test, in place of `Deno.test`.
 */
export function testsSharing<Fixture extends AsyncDisposable>(
  open: () => Promise<Fixture>,
): (claim: string, body: SharedTest<Fixture>) => void {
  let opened: Promise<Fixture> | undefined;
  let comingCount = 0;
  const close = async () => {
    const fixture = opened;
    opened = undefined;
    await (await fixture)?.[Symbol.asyncDispose]();
  };
  // A filter may leave out the last test.
  Deno.test.afterAll(close);
  return (claim, body) => {
    comingCount++;
    Deno.test(claim, async (t) => {
      try {
        await body(await (opened ??= open()), t);
      } finally {
        if (--comingCount === 0) await close();
      }
    });
  };
}
