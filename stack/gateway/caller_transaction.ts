import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { type Caller, databaseIdentity } from "./caller.ts";

/** A running transaction of postgres.js. */
export type Transaction = Parameters<Parameters<Sql["begin"]>[1]>[0];

/**
 * Runs `work` in a transaction with the caller's role and claims, so that grants and policies
 * apply to its statements.
 *
 * @param operation Storage's operation, for policies that call `storage.operation()`.
 */
export async function runAsCaller<T>(
  sql: Sql,
  caller: Caller,
  operation: string,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const { role, claims } = databaseIdentity(caller);
  const result = await sql.begin(async (tx) => {
    await tx`
      select set_config('role', ${role}, true),
             set_config('request.jwt.claims', ${JSON.stringify(claims)}, true),
             set_config('storage.operation', ${operation}, true)`;
    // Wrapped in an object because postgres.js would resolve an array of promises.
    return { value: await work(tx) };
  });
  return result.value;
}
