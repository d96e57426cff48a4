import type { Violation } from "./invariants.ts";
import type { Journal } from "./journal.ts";
import type { MemoryDatabase } from "./memory_database.ts";

/**
 * Looks for the ids of deleted users and of their tasks in all tables. Messages of Realtime are the
 * platform's, which deletes them after three days.
 */
export async function judgeDeletedUsers(
  database: MemoryDatabase,
  { deletedUsers }: Journal,
): Promise<Violation[]> {
  if (deletedUsers.size === 0) return [];
  const ids = [...deletedUsers].flat(2);
  const tables = await database.query(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('auth', 'public', 'private', 'pgmq', 'net', 'vault', 'storage')
     order by 1`,
    [],
    "tables",
  ) as { name: string }[];
  const found: Violation[] = [];
  for (const { name } of tables) {
    const rows = await database.query(
      `select left(t::text, 200) as row from ${name} as t where t::text ~ $1 limit 1`,
      [ids.join("|")],
      "traces",
    ) as { row: string }[];
    found.push(...rows.map(({ row }) => ({
      name: "nothing of a deleted user stays",
      detail: `${name}: ${row}`,
    })));
  }
  return found;
}
