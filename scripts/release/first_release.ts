import { SCHEMA_VERSION } from "../../shared/platform/db/schema_version.ts";
import type { GeneratedFiles } from "../generate/generated_files.ts";
import { readFrozenReleases } from "./frozen_releases.ts";
import { readSources } from "./read_sources.ts";
import { releaseSql } from "./release_sql.ts";

/** The migration that is generated from the sources. Later releases are written by hand. */
export const FIRST_RELEASE = "supabase/migrations/20261125000000_supaswarm_0_1_0.sql";

/** The first release from its sources; nothing once it is frozen. */
export async function releaseFiles(): Promise<GeneratedFiles> {
  if (FIRST_RELEASE in await readFrozenReleases()) return {};
  return { [FIRST_RELEASE]: releaseSql(SCHEMA_VERSION, await readSources()) };
}
