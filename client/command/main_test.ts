import assert from "node:assert/strict";

/** Runs the command with arguments, and returns what it reports. */
async function report(...args: readonly string[]): Promise<string> {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", new URL("./main.ts", import.meta.url).href, ...args],
    env: { NO_COLOR: "1" },
  }).output();
  assert.equal(code, 2);
  return new TextDecoder().decode(stderr);
}

Deno.test("supaswarm lists its commands for a command that does not exist", async () => {
  const text = await report("docter");

  assert.match(text, /Cannot run supaswarm docter: there is no such command/);
  assert.match(text, /\bdoctor\b.*\beval\b.*--help/);
});

Deno.test("supaswarm names an argument that its command does not take", async () => {
  const text = await report("doctor", "https://example.test");

  assert.match(text, /Cannot run supaswarm doctor: it takes no argument "https:\/\/example\.test"/);
});
