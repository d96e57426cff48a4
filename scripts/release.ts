/** `deno task release`: makes the release of the database from its sources. */
import { runCommand } from "./cli/run_command.ts";
import { staleFiles, writeStale } from "./generate/generated_files.ts";
import { FIRST_RELEASE, releaseFiles } from "./release/first_release.ts";
import {
  changedReleases,
  freezeReleases,
  readFrozenReleases,
  RELEASES_FILE,
} from "./release/frozen_releases.ts";
import { writeLine } from "./terminal.ts";

await runCommand({
  name: "deno task release",
  summary: `Writes ${FIRST_RELEASE} from supabase/schemas.`,
  options: {
    check: { type: "boolean", help: "Write nothing; fail if the release is not up to date." },
    freeze: { type: "boolean", help: "Freeze all releases: from now on they are never edited." },
  },
}, async ({ values }) => {
  const frozen = await readFrozenReleases();
  const changed = await changedReleases(frozen);
  if (changed.length > 0) {
    throw new Error(
      `${changed.join(", ")} was edited after its release. Restore it, and write a new migration`,
    );
  }
  const release = await releaseFiles();
  if (values.check) {
    if ((await staleFiles(release)).length === 0) return;
    throw new Error(`${FIRST_RELEASE} is out of date. Run deno task release`);
  }
  for (const path of await writeStale(release)) writeLine(`Wrote ${path}`);
  if (values.freeze) {
    await freezeReleases();
    writeLine(`Wrote ${RELEASES_FILE}`);
  }
});
