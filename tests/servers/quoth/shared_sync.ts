import { sharedDatabase } from "../../gateway/tools/shared_database.ts";
import { SyncFixture } from "./sync_fixture.ts";

/**
 * Returns a fixture on the database of this process, without the projects of earlier files. Files
 * that import this module run in one process, one after the other.
 */
export async function openSharedSync(): Promise<SyncFixture> {
  const { url } = await sharedDatabase();
  const fixture = SyncFixture.attach(url);
  await fixture.reset();
  return fixture;
}
