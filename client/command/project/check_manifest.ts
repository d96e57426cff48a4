import { INSTALLED_SCHEMAS } from "../release/fill_names.ts";
import type { Manifest } from "./manifest.ts";

/** Where an installation writes. What a manifest names elsewhere is not its to change. */
const OWN_PATHS: readonly RegExp[] = [
  /^supabase\/migrations\/\d{14,}_supaswarm_[\w.-]+\.sql$/,
  /^supabase\/functions\/_supaswarm(\/[\w.-]+)+$/,
];
const STARTER_PATH = /^agents\/[\w-]+(\.[\w-]+)*\.(md|yaml)$/;
const HASH = /^[0-9a-f]{64}$/;
/** Names of functions that releases have; a project may have one under a name with a prefix. */
const FUNCTION_NAME = /^(supaswarm-[a-z-]+|mcp(-[a-z]+)?|quoth-sync)$/;
const VERSION = /^\d+\.\d+\.\d+(-[\w.]+)?$/;
const MAX_SHOWN = 100;

/**
 * Why a value is no manifest that an installation has written; null if it is one, or its names
 * alone, which are enough for commands that write nothing.
 */
export function manifestProblem(value: unknown): string | null {
  if (!isObject(value)) return "it is not an object";
  const { version, schema, functions, migrations = [], files = {}, starter = {} } = value;
  if (version !== undefined && !isText(version, VERSION)) {
    return "version is not a release version";
  }
  if (!INSTALLED_SCHEMAS.some((name) => name === schema)) {
    return `schema ${shown(schema)} is not one of SupaSwarm's schemas, which are ${
      INSTALLED_SCHEMAS.join(" and ")
    }`;
  }
  if (!isObject(functions)) return "functions is not an object";
  for (const [name, chosen] of Object.entries(functions)) {
    if (FUNCTION_NAME.test(name) && (chosen === name || chosen === `supaswarm-${name}`)) continue;
    return `functions has ${shown(name)} as ${shown(chosen)}, which no installation chooses`;
  }
  if (!isObject(files) || !isObject(starter)) return "files or starter is not an object";
  if (!Array.isArray(migrations)) return "migrations is not a list";
  const named = [
    ...pathsOf("files", files, (path) => isOwnPath(path, Object.values(functions))),
    ...pathsOf("starter", starter, (path) => STARTER_PATH.test(path)),
    ...migrations.map((path: unknown) => ({
      what: "migrations",
      path,
      isOwn: typeof path === "string" && OWN_PATHS[0]?.test(path) === true,
      isHashed: true,
    })),
  ];
  const foreign = named.find(({ isOwn }) => !isOwn);
  if (foreign !== undefined) {
    return `${foreign.what} has ${shown(foreign.path)}, which no installation writes`;
  }
  const unhashed = named.find(({ isHashed }) => !isHashed);
  if (unhashed !== undefined) return `${unhashed.what} has no hash of ${shown(unhashed.path)}`;
  return null;
}

/** Parts without which a command does not know what is installed. */
const WHOLE = ["version", "migrations", "files", "configHash"] as const;

/** The first part that a manifest lacks to be upgraded or removed; null if it is whole. */
export function missingPart(manifest: Partial<Manifest>): string | null {
  return WHOLE.find((part) => manifest[part] === undefined) ?? null;
}

function pathsOf(what: string, files: object, isOwn: (path: string) => boolean) {
  return Object.entries(files).map(([path, hash]) => ({
    what,
    path,
    isOwn: isOwn(path),
    isHashed: isText(hash, HASH),
  }));
}

function isOwnPath(path: string, functions: readonly unknown[]): boolean {
  if (path.split("/").some((part) => part === "." || part === "..")) return false;
  const folder = /^supabase\/functions\/([^/]+)\/(deno\.json|index\.ts)$/.exec(path)?.[1];
  return functions.includes(folder) || OWN_PATHS.some((pattern) => pattern.test(path));
}

function isText(value: unknown, pattern: RegExp): boolean {
  return typeof value === "string" && pattern.test(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : typeof value;
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
