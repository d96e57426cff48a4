import type { Violation } from "./invariants.ts";
import type { Journal } from "./journal.ts";
import type { MemoryDatabase } from "./memory_database.ts";

/** Looks for the ids of deleted users and of their tasks in all tables. */
export async function judgeDeletedUsers(
  database: MemoryDatabase,
  { deletedUsers }: Journal,
): Promise<Violation[]> {
  if (deletedUsers.size === 0) return [];
  return await database.query(
    "select 'nothing of a deleted user stays' as name, detail from witness.traces_of($1, $2)",
    [[...deletedUsers.keys()].join("|"), [...deletedUsers.values()].flat().join("|")],
    "traces",
  ) as Violation[];
}
