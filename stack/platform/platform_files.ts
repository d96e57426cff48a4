/** One file of platform SQL. Files run in the order of `name`, the file name. */
export interface PlatformSql {
  readonly name: string;
  readonly sql: string;
}

/** One file of an extension in `share/postgresql/extension/`. */
export interface ExtensionFile {
  readonly name: string;
  readonly content: string;
}

/** An extension of the stack: its control file and its SQL scripts. */
export interface PlatformExtension {
  readonly name: string;
  readonly files: readonly ExtensionFile[];
}

const SQL_FOLDER = new URL("./sql/", import.meta.url);
const EXTENSIONS_FOLDER = new URL("./extensions/", import.meta.url);

/**
 * Reads the SQL that turns a new server into a Supabase database, in the order in which the
 * bootstrap superuser runs it before any migration.
 */
export async function platformSql(): Promise<PlatformSql[]> {
  const names = await entryNames(
    SQL_FOLDER,
    (entry) => entry.isFile && entry.name.endsWith(".sql"),
  );
  return await Promise.all(names.map(async (name) => ({
    name,
    sql: await Deno.readTextFile(new URL(name, SQL_FOLDER)),
  })));
}

/** Reads the extensions that the stack provides instead of Supabase's, sorted by name. */
export async function platformExtensions(): Promise<PlatformExtension[]> {
  const names = await entryNames(EXTENSIONS_FOLDER, (entry) => entry.isDirectory);
  return await Promise.all(
    names.map(async (name) => ({ name, files: await extensionFiles(name) })),
  );
}

/**
 * Returns a hash (SHA-256, hex) over names and contents of all platform SQL and extensions. It is
 * the cache key of what is derived from them, such as a snapshot of a prepared server.
 */
export async function platformHash(): Promise<string> {
  const [sql, extensions] = await Promise.all([platformSql(), platformExtensions()]);
  const bytes = new TextEncoder().encode(JSON.stringify({ sql, extensions }));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

async function extensionFiles(extension: string): Promise<ExtensionFile[]> {
  const folder = new URL(`${extension}/`, EXTENSIONS_FOLDER);
  const names = await entryNames(
    folder,
    (entry) => entry.isFile && (entry.name.endsWith(".control") || entry.name.endsWith(".sql")),
  );
  return await Promise.all(names.map(async (name) => ({
    name,
    content: await Deno.readTextFile(new URL(name, folder)),
  })));
}

async function entryNames(folder: URL, isWanted: (entry: Deno.DirEntry) => boolean) {
  const names: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    if (isWanted(entry)) names.push(entry.name);
  }
  return names.sort();
}
