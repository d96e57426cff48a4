import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compareVersions } from "../../compare_versions.ts";

/** A release as the package contains it, with markers where a project chooses names. */
export interface Release {
  readonly version: string;
  readonly objects: ReleaseObjects;
  readonly functions: readonly ReleaseFunction[];
  /** Of all versions, oldest first. */
  readonly migrations: readonly ReleaseMigration[];
  /** The built modules of the functions, by file name. */
  readonly modules: ReadonlyMap<string, string>;
}

/** The change of the database to a version. */
export interface ReleaseMigration {
  readonly version: string;
  readonly sql: string;
}

/** What a release creates in a database, outside of its private schema. */
export interface ReleaseObjects {
  /** Names of relations, types and functions in the schema that clients read. */
  readonly names: readonly string[];
  /** Signatures of the functions among them. */
  readonly routines: readonly string[];
  /** Further schemas, whose names a project cannot choose. */
  readonly schemas: readonly string[];
  readonly cronJobs: readonly string[];
  readonly queues: readonly string[];
  readonly buckets: readonly string[];
  /** Policies and triggers on tables of the platform. */
  readonly policies: readonly TableObject[];
  readonly triggers: readonly TableObject[];
}

/** An object of a table, such as a policy. */
export interface TableObject {
  readonly name: string;
  /** With its schema. */
  readonly table: string;
}

/** An edge function of a release. */
export interface ReleaseFunction {
  readonly name: string;
  /** Whether a project may have a function of this name itself. */
  readonly isRenamable: boolean;
}

const FOLDER = new URL("./release/", import.meta.url);

/** Reads the release of this package. */
export async function readRelease(folder: string = fileURLToPath(FOLDER)): Promise<Release> {
  const read = (name: string) => readFile(join(folder, name), "utf8");
  const names = (await readdir(join(folder, "functions"))).sort();
  const modules = await Promise.all(
    names.map(async (name): Promise<[string, string]> => [name, await read(`functions/${name}`)]),
  );
  const versions = (await readdir(join(folder, "migrations"))).map((name) =>
    basename(name, ".sql")
  );
  const migrations = await Promise.all(
    versions.sort(compareVersions).map(async (version) => ({
      version,
      sql: await read(`migrations/${version}.sql`),
    })),
  );
  return {
    ...JSON.parse(await read("release.json")),
    migrations,
    modules: new Map(modules),
  };
}
