/** Uses the scripted model, even where keys are set. */
export const QUIETLY = { view: null, environment: {} };

export const QUEUE = "# The queue\n\nIt never loses a task. Not one.\n\n## Leases\n";

/** A folder for the demo, which is deleted after the test. */
export async function makeFolder(
  files: Readonly<Record<string, string>>,
): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.realPath(await Deno.makeTempDir({ prefix: "supaswarm-demo-test-" }));
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${path}/${name}`, text);
  }
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
