import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A release as the package contains it, with markers where a project chooses names. */
export interface Release {
  readonly version: string;
  readonly objects: ReleaseObjects;
  readonly functions: readonly ReleaseFunction[];
  readonly migration: string;
  /** The built modules of the functions, by file name. */
  readonly modules: ReadonlyMap<string, string>;
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
  return {
    ...JSON.parse(await read("release.json")),
    migration: await read("migration.sql"),
    modules: new Map(modules),
  };
}
