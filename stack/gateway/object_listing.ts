import { z } from "../../shared/vendor/zod.js";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import type { Caller } from "./caller.ts";
import { runAsCaller } from "./caller_transaction.ts";

/** The body of `POST /object/list/<bucket>`. */
export const listingSchema = z.object({
  prefix: z.string().default(""),
  limit: z.number().int().min(1).max(1000).default(100),
  offset: z.number().int().min(0).default(0),
  search: z.string().default(""),
  sortBy: z.object({
    column: z.enum(["name", "updated_at", "created_at", "last_accessed_at"]).default("name"),
    order: z.enum(["asc", "desc"]).default("asc"),
  }).prefault({}),
});

/** Which objects of a bucket to list, and in which order. */
export type Listing = z.infer<typeof listingSchema>;

/**
 * Lists one folder of a bucket with the caller's permissions: folders, which have no id, then
 * objects. Names are relative to the folder.
 */
export async function listObjects(
  sql: Sql,
  caller: Caller,
  bucket: string,
  listing: Listing,
): Promise<JsonObject[]> {
  const { limit, offset, search, sortBy } = listing;
  const folder = listing.prefix === "" || listing.prefix.endsWith("/")
    ? listing.prefix
    : `${listing.prefix}/`;
  return await runAsCaller(sql, caller, "storage.object.list", async (tx) => [
    ...await tx<JsonObject[]>`
      with visible as (
        select substr(o.name, length(${folder}) + 1) as name, o.id, o.updated_at, o.created_at,
               o.last_accessed_at, o.metadata
        from storage.objects as o
        where o.bucket_id = ${bucket} and starts_with(o.name, ${folder})
      ),
      entries as (
        select distinct split_part(v.name, '/', 1) as name, null::uuid as id,
               null::timestamptz as updated_at, null::timestamptz as created_at,
               null::timestamptz as last_accessed_at, null::jsonb as metadata
        from visible as v
        where strpos(v.name, '/') > 0
        union all
        select * from visible as v where strpos(v.name, '/') = 0 and v.name <> ''
      )
      select e.*
      from entries as e
      where starts_with(lower(e.name), lower(${search}))
      order by e.id is not null, ${tx(`e.${sortBy.column}`)} ${
      sortBy.order === "asc" ? tx`asc` : tx`desc`
    }, e.name
      limit ${limit} offset ${offset}`,
  ]);
}
