import type { StackDatabase } from "../../../stack/database/database_port.ts";
import {
  openToolDatabase,
  openToolFixture,
  type ToolFixture,
  type ToolFixtureOptions,
} from "./tool_fixture.ts";

let opened: Promise<StackDatabase> | undefined;

Deno.test.afterAll(async () => {
  await (await opened)?.stop();
});

/** The database of this process, which the first caller opens. */
export async function sharedDatabase(): Promise<StackDatabase> {
  return await (opened ??= openToolDatabase());
}

/**
 * A gateway of the caller's own on the database of this process, which the first caller opens and
 * which ends after the last test. Files that import this module run in one process, one after the
 * other: each of them finds its own rows alone, and restores what it changes for everybody.
 */
export async function openFixtureOnSharedDatabase(
  options: Omit<ToolFixtureOptions, "db" | "database"> = {},
): Promise<ToolFixture> {
  return await openToolFixture({ ...options, database: await sharedDatabase() });
}
