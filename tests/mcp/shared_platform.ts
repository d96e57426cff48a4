import { bootMcpPlatform, type McpPlatform } from "./mcp_platform.ts";

let opened: Promise<McpPlatform> | undefined;

Deno.test.afterAll(async () => {
  await (await opened)?.[Symbol.asyncDispose]();
});

/**
 * The platform of this process, with default settings: the first test that asks boots it, and it
 * ends after the last test. Files that import this module run in one process, one after the other,
 * so each of them
 *
 * - finds its own rows alone: by user, by task, by slugs that no other file uses;
 * - restores what it changes for everybody, such as a seeded row;
 * - calls `Deno.test` itself, since a report names the file with that call.
 *
 * A test of what is in all logs or all tables boots a platform of its own.
 */
export async function sharedPlatform(): Promise<McpPlatform> {
  const platform = await (opened ??= bootMcpPlatform());
  // What the caller disposes of is its use of the platform, which goes on.
  return { ...platform, [Symbol.asyncDispose]: () => Promise.resolve() };
}
