import { z } from "../../vendor/zod.js";
import type { Sql } from "../../platform/db/sql_client.ts";
import { attempt } from "../../platform/db/to_swarm_error.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import { jsonObject } from "../../platform/values/json_schema.ts";
import type { ExportKind } from "./export_columns.ts";

/** One file to write. */
export interface ExportDay {
  readonly kind: ExportKind;
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
}

/** A line of a file and its position. */
export interface ExportRow {
  /** The row's time in microseconds and its id, which define its order among the day's rows. */
  readonly at: string;
  readonly id: string;
  readonly entry: JsonObject;
}

/** The days to export. */
export interface DaysWanted {
  /** From this day on, even if already exported; absent for due days only. */
  readonly from?: string;
  /** Includes today so far. @default false */
  readonly withToday?: boolean;
}

/** The export's data source and progress. */
export interface ExportStore {
  /** At most 62 days, oldest first. */
  listDays(wanted: DaysWanted): Promise<readonly ExportDay[]>;
  /** The next rows after one; a page shorter than `limit` is the last. */
  readPage(day: ExportDay, after: ExportRow | null, limit: number): Promise<readonly ExportRow[]>;
  /** Records that the day's file is written. Days that are not over stay due. */
  markExported(day: ExportDay): Promise<void>;
}

const daysSchema = z.array(z.object({
  kind: z.enum(["feedback", "failures"]),
  day: z.iso.date(),
}));
const pageSchema = z.array(z.object({ at: z.string(), id: z.string(), entry: jsonObject }));

/**
 * The store over SQL. Every method throws `DATABASE_UNAVAILABLE` if the database is unavailable.
 */
export function createExportStore(sql: Sql): ExportStore {
  return {
    listDays: ({ from = null, withToday = false }) =>
      attempt("list the days to export", async () => {
        const [row] = await sql`
          select private.days_to_export(${from}::text::date, ${withToday}::boolean) as days`;
        return daysSchema.parse(row?.days);
      }),
    readPage: ({ kind, day }, after, limit) =>
      attempt(`read ${kind} of ${day}`, async () =>
        pageSchema.parse([
          ...await sql`
            select at, id, entry from private.export_page(
              p_kind => ${kind}::text,
              p_day => ${day}::text::date,
              p_after_at => ${after?.at ?? null}::text,
              p_after_id => ${after?.id ?? null}::uuid,
              p_limit => ${limit}::int
            )`,
        ])),
    markExported: ({ kind, day }) =>
      attempt("record the export", async () => {
        await sql`select private.mark_exported(${kind}::text, ${day}::text::date)`;
      }),
  };
}
