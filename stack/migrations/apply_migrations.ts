import { join } from "node:path";
import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { sha256Hex } from "../../shared/platform/values/sha256_hex.ts";
import { untilAborted } from "../until_aborted.ts";
import type { ReportDoing, StackDatabase } from "../database/database_port.ts";
import { type Migration, readMigrations } from "./read_migrations.ts";
import { runFile } from "./run_file.ts";
import { findSeedFiles } from "./seed_files.ts";
import { splitStatements } from "./split_statements.ts";

const END_LIMIT_SECONDS = 1;
const BETWEEN_STATEMENTS = /^(?:\s|;|--[^\n]*\n)*$/;

/** The result of {@linkcode applyMigrations}. */
export interface MigrationReport {
  /** Versions that this call applied. */
  readonly applied: readonly string[];
  /**
   * Paths of files that were edited after they were applied. If there are any, nothing is applied.
   */
  readonly edited: readonly string[];
  /** Paths of the seed files that this call applied. */
  readonly seeded: readonly string[];
}

/** How a call of {@linkcode applyMigrations} is ended and watched. */
export interface MigrationRun {
  readonly signal?: AbortSignal;
  /** Gets the file, and how much of all SQL is done. @default nothing is reported */
  readonly report?: ReportDoing;
}

/**
 * Applies the project's pending migrations, each file in one transaction, and records them like the
 * Supabase CLI. Then applies the seed files that were not applied before. Runs as role
 * `postgres`, as on a hosted project.
 *
 * @throws SwarmError `CONFIG_INVALID` with file and line when a statement fails, or when the
 * database has a migration that the project does not have; `DATABASE_UNAVAILABLE` when the database
 * restarts; the reason of the signal.
 */
export async function applyMigrations(
  database: Pick<StackDatabase, "url"> & Partial<Pick<StackDatabase, "onRestart">>,
  projectRoot: string,
  { signal, report = () => {} }: MigrationRun = {},
): Promise<MigrationReport> {
  const sql = createSql(database.url, { maxConnections: 1, applicationName: "migrations" });
  const restarted = new AbortController();
  const unsubscribe = database.onRestart?.(() => restarted.abort(lostDatabase()));
  const ending = AbortSignal.any([restarted.signal, ...signal === undefined ? [] : [signal]]);
  try {
    return await untilAborted(ending, applyAll(sql, projectRoot, report));
  } finally {
    unsubscribe?.();
    // A statement that still runs is cut.
    await sql.end({ timeout: END_LIMIT_SECONDS });
  }
}

/** The driver never settles some of the queries that it loses. */
function lostDatabase(): SwarmError {
  return new SwarmError(
    "DATABASE_UNAVAILABLE",
    "Cannot apply migrations: the database ended or did not answer, and was restarted",
    { hint: "Save the file or start again: files that were applied are kept." },
  );
}

async function applyAll(
  sql: Sql,
  projectRoot: string,
  report: ReportDoing,
): Promise<MigrationReport> {
  await createHistory(sql);
  const migrations = await readMigrations(projectRoot);
  const recorded = await readHistory(sql);
  refuseUnknownVersions(migrations, recorded);
  const edited = migrations.filter((migration) => isEdited(migration, recorded));
  if (edited.length > 0) {
    return { applied: [], edited: edited.map(({ path }) => path), seeded: [] };
  }
  const pending = migrations.filter(({ version }) => !recorded.has(version));
  await applyPending(sql, pending, report);
  const seeded: string[] = [];
  for (const path of await findSeedFiles(projectRoot)) {
    report(`applying ${path}`);
    if (await applySeed(sql, projectRoot, path)) seeded.push(path);
  }
  return { applied: pending.map(({ version }) => version), edited: [], seeded };
}

/** Applies migrations, and reports how much of their text is applied. */
async function applyPending(
  sql: Sql,
  migrations: readonly Migration[],
  report: ReportDoing,
): Promise<void> {
  const totalChars = migrations.reduce((sum, { sql: text }) => sum + text.length, 0);
  let doneChars = 0;
  for (const migration of migrations) {
    const tell = (chars: number) =>
      report(`applying ${migration.path}`, (doneChars + chars) / totalChars);
    tell(0);
    await applyMigration(sql, migration, tell);
    doneChars += migration.sql.length;
  }
}

/** Creates the history tables with the same layout as `supabase db push --remote`. */
async function createHistory(sql: Sql): Promise<void> {
  await sql.unsafe(`
    create schema if not exists supabase_migrations;
    create table if not exists supabase_migrations.schema_migrations (
      version text not null primary key,
      statements text[],
      name text
    );
    create table if not exists supabase_migrations.seed_files (
      path text not null primary key,
      hash text not null
    );
  `);
}

/** Reads the recorded statements of each version; null where none were recorded. */
async function readHistory(sql: Sql): Promise<Map<string, readonly string[] | null>> {
  const rows = await sql<{ version: string; statements: string[] | null }[]>`
    select version, to_jsonb(statements) as statements
    from supabase_migrations.schema_migrations
  `;
  return new Map(rows.map(({ version, statements }) => [version, statements]));
}

function refuseUnknownVersions(
  migrations: readonly Migration[],
  recorded: ReadonlyMap<string, unknown>,
): void {
  const known = new Set(migrations.map(({ version }) => version));
  const unknown = [...recorded.keys()].filter((version) => !known.has(version));
  if (unknown.length === 0) return;
  throw new SwarmError(
    "CONFIG_INVALID",
    `Cannot apply migrations: the database has ${
      unknown.join(", ")
    }, which supabase/migrations does not have`,
    {
      hint: "Restore those files, start once with --reset, which deletes this stack's data, or " +
        "choose another data folder with SUPASWARM_DATA_DIR.",
    },
  );
}

async function applyMigration(
  sql: Sql,
  { version, name, path, sql: text }: Migration,
  onRun: (chars: number) => void,
) {
  const statements = splitStatements(text);
  await sql.begin(async (tx) => {
    await runFile(tx, path, statements, onRun);
    await tx`
      insert into supabase_migrations.schema_migrations (version, name, statements)
      select ${version}, ${name}, array(
        select value from jsonb_array_elements_text(${
      tx.json(statements.map((statement) => statement.text))
    }::jsonb)
      )
    `;
  });
}

function isEdited(
  { version, sql }: Migration,
  recorded: ReadonlyMap<string, readonly string[] | null>,
): boolean {
  const statements = recorded.get(version) ?? null;
  if (statements === null) return false;
  if (consistsOf(sql, statements)) return false;
  // The Supabase CLI also records the comments in front of a statement.
  const texts = statements.flatMap(statementTexts);
  return JSON.stringify(texts) !== JSON.stringify(statementTexts(sql));
}

/**
 * Whether only white space and line comments are between the statements. Returns false in doubt,
 * because it replaces splitting the text, which takes a fifth of a start.
 */
function consistsOf(sql: string, statements: readonly string[]): boolean {
  let end = 0;
  for (const statement of statements) {
    const start = sql.indexOf(statement, end);
    if (start < 0 || !BETWEEN_STATEMENTS.test(sql.slice(end, start))) return false;
    end = start + statement.length;
  }
  return BETWEEN_STATEMENTS.test(sql.slice(end));
}

function statementTexts(text: string): string[] {
  return splitStatements(text).map((statement) => statement.text);
}

/** Applies a seed file. Returns false when any version of it was applied before. */
async function applySeed(sql: Sql, projectRoot: string, path: string): Promise<boolean> {
  const text = await Deno.readTextFile(join(projectRoot, path));
  const hash = sha256Hex(text);
  return await sql.begin(async (tx) => {
    const inserted = await tx`
      insert into supabase_migrations.seed_files (path, hash)
      values (${path}, ${hash})
      on conflict (path) do nothing
      returning path
    `;
    if (inserted.length === 0) return false;
    await runFile(tx, path, splitStatements(text));
    return true;
  });
}
