import { BIRTH_MS, fillRandomly, realNowMs, seedRandomness, time } from "./virtual_globals.ts";
import { join } from "node:path";
import {
  loadPglite,
  loadPglitePgcrypto,
  loadPglitePgtap,
  loadPglitePgvector,
  loadPgliteUuidOssp,
  type Pglite,
} from "../../stack/deps.ts";
import { writeBundles } from "../../stack/database/pglite_folder.ts";
import { migrationsHash } from "../../stack/migrations/migrations_hash.ts";
import { readMigrations } from "../../stack/migrations/read_migrations.ts";
import { platformHash, platformSql } from "../../stack/platform/platform_files.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { MemoryImage, runtimeOf } from "./memory_image.ts";

const CACHE = join(PROJECT_ROOT, ".supaswarm", "cache");
/** As on a hosted project. */
const SEARCH_PATH = String.raw`"\$user", public, extensions`;
/** int8 as text, as the functions' driver has it. */
const PARSERS = { 20: (text: string) => text };
/** Changes when the way in which the database is built does. */
const BUILD = "2";

interface WasmOptions {
  readonly instantiateWasm: (
    imports: { readonly env: Record<string, unknown> },
    ...rest: unknown[]
  ) => unknown;
}

/**
 * Takes the alarm clock from Postgres: set between two worlds, it would ring in one of them at a
 * moment that no seed decides. Nothing needs it, because no statement waits.
 */
const NO_ALARMS = {
  name: "no_alarms",
  setup: (_pglite: unknown, options: WasmOptions) =>
    Promise.resolve({
      emscriptenOpts: {
        ...options,
        instantiateWasm(...[imports, ...rest]: Parameters<WasmOptions["instantiateWasm"]>) {
          if (!("_setitimer_js" in imports.env)) {
            throw new TypeError("PGlite sets alarms otherwise");
          }
          imports.env._setitimer_js = () => 0;
          return options.instantiateWasm(imports, ...rest);
        },
      },
    }),
};

/** What the database has done, to see where the time goes. */
export interface DatabaseFigures {
  calls: number;
  sqlMs: number;
  resetMs: number;
}

/** The migrated database in the memory of this process. Its clock and randomness are ours. */
export class MemoryDatabase {
  readonly #pglite: Pglite;
  #image: MemoryImage | null = null;
  figures: DatabaseFigures = { calls: 0, sqlMs: 0, resetMs: 0 };
  /** Calls and milliseconds of each kind of statement. */
  readonly profile = new Map<string, { calls: number; ms: number }>();

  private constructor(pglite: Pglite) {
    this.#pglite = pglite;
  }

  /** Opens the database of this checkout; the first time it is built, which takes a minute. */
  static async open(): Promise<MemoryDatabase> {
    const archive = await readArchive();
    const { PGlite } = await loadPglite();
    const pglite = await createPglite({
      loadDataDir: new Blob([archive]),
      // Less memory to copy at each reset.
      startParams: [
        ...(PGlite as unknown as { defaultStartParams: string[] }).defaultStartParams,
        ...["-c", "shared_buffers=8MB", "-c", "wal_buffers=256kB", "-c", "jit=off"],
      ],
    });
    await pglite.exec(`set search_path = ${SEARCH_PATH}`);
    return new MemoryDatabase(pglite);
  }

  /** Runs statements of ours, outside of the figures. */
  async run(sql: string): Promise<void> {
    await this.#pglite.exec(sql);
  }

  /**
   * Runs statements as one transaction, and returns the rows of the last one.
   *
   * @param name The kind of statement, for the profile.
   */
  async query(text: string, values: readonly unknown[], name: string): Promise<unknown[]> {
    const beganMs = realNowMs();
    try {
      // The simple protocol takes a quarter of the time of the extended one.
      const results = await this.#pglite.exec(fillIn(text, values), { parsers: PARSERS });
      return results.at(-1)?.rows ?? [];
    } finally {
      const ms = realNowMs() - beganMs;
      this.figures.calls++;
      this.figures.sqlMs += ms;
      const entry = this.profile.get(name) ?? { calls: 0, ms: 0 };
      this.profile.set(name, { calls: entry.calls + 1, ms: entry.ms + ms });
    }
  }

  /** Calls `hear` for each notification. @returns a function that ends it. */
  onNotification(hear: (channel: string, payload: string) => void): () => void {
    return this.#pglite.onNotification(hear);
  }

  /** Forgets what it has done until now. */
  clearFigures(): void {
    this.figures = { calls: 0, sqlMs: 0, resetMs: 0 };
    this.profile.clear();
  }

  /** Takes the image to which {@linkcode reset} returns. */
  keep(): void {
    this.#image = new MemoryImage(runtimeOf(this.#pglite));
  }

  /** Returns to the last image. */
  reset(): void {
    const beganMs = realNowMs();
    if (this.#image === null) throw new TypeError("no image of the database was taken");
    this.#image.restore();
    this.figures.resetMs += realNowMs() - beganMs;
  }
}

function fillIn(text: string, values: readonly unknown[]): string {
  return text.replaceAll(/\$(\d+)/g, (_, number) => literal(values[Number(number) - 1]));
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = String(value).replaceAll("'", "''");
  return text.includes("\\") ? ` E'${text.replaceAll("\\", "\\\\")}'` : `'${text}'`;
}

async function createPglite(
  options: { readonly loadDataDir?: Blob; readonly startParams?: string[] },
): Promise<Pglite> {
  const [{ PGlite }, { vector }, { pgtap }, { pgcrypto }, { uuid_ossp }] = await Promise.all([
    loadPglite(),
    loadPglitePgvector(),
    loadPglitePgtap(),
    loadPglitePgcrypto(),
    loadPgliteUuidOssp(),
  ]);
  const bundles = await writeBundles(CACHE);
  const extensions = Object.fromEntries(bundles.map(({ name, path }) => [name, {
    name,
    setup: (_pglite: unknown, emscriptenOpts: unknown) =>
      Promise.resolve({ emscriptenOpts, bundlePath: new URL(`file://${encodeURI(path)}`) }),
  }]));
  // What was loaded or built before in this process changes nothing.
  time.ms = BIRTH_MS;
  seedRandomness(0);
  const pglite: Pglite = await PGlite.create({
    ...options,
    extensions: { vector, pgtap, pgcrypto, uuid_ossp, ...extensions, no_alarms: NO_ALARMS },
  });
  // These devices keep a buffer of random bytes, which would outlive a seed.
  const { FS } = runtimeOf(pglite);
  for (const path of ["/dev/urandom", "/dev/random"]) {
    const device = FS.devices[FS.lookupPath(path).node.rdev];
    if (device === undefined) throw new TypeError(`PGlite has no ${path}`);
    device.stream_ops.read = (_: unknown, to: Uint8Array, offset: number, length: number) => {
      fillRandomly(new Uint8Array(to.buffer, to.byteOffset + offset, length));
      return length;
    };
  }
  return pglite;
}

async function readArchive(): Promise<Uint8Array<ArrayBuffer>> {
  const hashes = [await platformHash(), await migrationsHash(PROJECT_ROOT)];
  const key = hashes.map((hash) => hash.slice(0, 16)).join("-");
  const path = join(CACHE, `simulation-${BUILD}-${key}.tar`);
  const cached = await Deno.readFile(path).catch(() => null);
  if (cached !== null) return cached;
  await Deno.mkdir(CACHE, { recursive: true });
  const archive = await buildArchive();
  for await (const { name } of Deno.readDir(CACHE)) {
    if (name.startsWith("simulation-")) await Deno.remove(join(CACHE, name)).catch(() => {});
  }
  const draft = `${path}.${Deno.pid}`;
  await Deno.writeFile(draft, archive);
  await Deno.rename(draft, path);
  return archive;
}

/** Builds it here, in virtual time: what migrations generate is the same on every machine. */
async function buildArchive(): Promise<Uint8Array<ArrayBuffer>> {
  const pglite = await createPglite({});
  for (const { name, sql } of await platformSql()) await runNamed(pglite, name, sql);
  await pglite.exec(`set search_path = ${SEARCH_PATH}`);
  for (const { path, sql } of await readMigrations(PROJECT_ROOT)) {
    await runNamed(pglite, path, `begin;\n${sql}\n;commit`);
  }
  const seed = await Deno.readTextFile(join(PROJECT_ROOT, "supabase", "seed.sql"));
  await runNamed(pglite, "supabase/seed.sql", seed);
  await pglite.exec("vacuum analyze");
  const archive = await pglite.dumpDataDir("none");
  await pglite.close();
  return new Uint8Array(await archive.arrayBuffer());
}

async function runNamed(pglite: Pglite, name: string, sql: string): Promise<void> {
  try {
    await pglite.exec(sql);
  } catch (error) {
    throw new Error(`Cannot run ${name}: ${error instanceof Error ? error.message : error}`);
  }
}
