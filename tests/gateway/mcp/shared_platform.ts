import { bootMcpPlatform, type McpPlatform } from "./mcp_platform.ts";

let opened: Promise<McpPlatform> | undefined;

Deno.test.afterAll(async () => {
  await (await opened)?.[Symbol.asyncDispose]();
});

/**
 * Returns the platform of this process, with default settings. The first test that needs it boots
 * it, and it stops after the last test. Files that import this module run in one process, one after
 * the other, so each of them
 *
 * - finds only its own rows: by user, by task, or by slugs that no other file uses;
 * - restores shared data that it changes, such as a seeded row;
 * - calls `Deno.test` itself, because a report names the file with that call.
 *
 * A test of all logs or all tables boots its own platform.
 */
export async function sharedPlatform(): Promise<McpPlatform> {
  const platform = await (opened ??= bootMcpPlatform());
  // The platform continues for other tests, so disposing of this copy does nothing.
  return { ...platform, [Symbol.asyncDispose]: () => Promise.resolve() };
}
