import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { jsonObject } from "../../platform/values/json_schema.ts";
import type { Sql, TransactionSql } from "../../vendor/postgres.js";
import { z } from "../../vendor/zod.js";

/** A ruleset with the content of its newest version. */
export const storedRuleset = z.object({
  id: z.string(),
  name: z.string(),
  version: z.int(),
  content: jsonObject,
});

/** See {@linkcode storedRuleset}. */
export type StoredRuleset = z.infer<typeof storedRuleset>;

/**
 * Reads a ruleset.
 *
 * @param userId The reading user; null is the service, which reads all.
 * @throws SwarmError `RULESET_NOT_FOUND`, also for another user's ruleset.
 */
export async function readRuleset(
  sql: Sql | TransactionSql,
  id: string,
  userId: string | null,
): Promise<StoredRuleset> {
  const [row] = await sql`
    select ruleset.id, current.name, current.version, current.content
    from public.rulesets as ruleset
    join public.ruleset_versions as current
      on current.ruleset_id = ruleset.id and current.version = ruleset.version
    where ruleset.id = ${id}
      and (${userId}::uuid is null or ruleset.owner = ${userId} or ruleset.owner is null)`;
  if (row === undefined) throw rulesetNotFound(id);
  return storedRuleset.parse(row);
}

/** Creates the error for a ruleset that does not exist or belongs to another user. */
export function rulesetNotFound(id: string): SwarmError {
  return new SwarmError(
    "RULESET_NOT_FOUND",
    `Cannot find the ruleset ${id}: it is neither yours nor shared`,
  );
}
