import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { eventPage } from "../../shared/servers/swarm/job_schema.ts";

/** A client that reads the events of a job page by page. */
export interface EventReader {
  /** Ids in the order in which they were returned. */
  readonly ids: number[];
  readonly cursor: () => string;
  /** Reads one page and returns the ids that are new. */
  readPage(): Promise<readonly number[]>;
  /** Reads until a page says that there is no more. */
  readAll(): Promise<void>;
}

/** Creates a reader that has read nothing. */
export function createEventReader(sql: Sql, taskId: string, limit = 200): EventReader {
  const ids: number[] = [];
  let cursor = "";
  let hasMore = true;
  async function readPage() {
    const [row] = await sql`
      select public.read_events(${taskId}::uuid, ${cursor}, ${limit}::int) as page`;
    const page = eventPage.parse(row?.page);
    const fresh = page.events.map(({ id }) => id);
    ids.push(...fresh);
    [cursor, hasMore] = [page.next_cursor, page.has_more];
    return fresh;
  }
  return {
    ids,
    cursor: () => cursor,
    readPage,
    async readAll() {
      do await readPage(); while (hasMore);
    },
  };
}

/** The ids of all events of a job, in order. */
export async function storedIds(sql: Sql, jobId: string): Promise<number[]> {
  const rows = await sql`
    select id::int from public.task_events where master_task_id = ${jobId}::uuid order by id`;
  return rows.map(({ id }) => Number(id));
}
