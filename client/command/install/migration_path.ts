import { MIGRATIONS_PATH } from "../project/project.ts";

/**
 * The path of a new migration, whose version is the time, or the next one after the project's
 * newest migration.
 */
export function migrationPath(
  existing: Iterable<string>,
  release: string,
  now: Date = new Date(),
): string {
  const newest = [...existing].reduce((latest, path) => {
    const [, digits] = /(\d{14})_[^/]*$/.exec(path) ?? [];
    return digits !== undefined && digits > latest ? digits : latest;
  }, "");
  const time = now.toISOString().replaceAll(/\D/g, "").slice(0, 14);
  const version = time > newest ? time : String(BigInt(newest) + 1n);
  return `${MIGRATIONS_PATH}/${version}_supaswarm_${release.replaceAll(".", "_")}.sql`;
}
