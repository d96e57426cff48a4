import type { LiteConnection } from "./lite_contract.ts";

type Driver = LiteConnection["driver"];
type Reserved = Awaited<ReturnType<Driver["reserve"]>>;

const STORAGE_DELETE = /^\s*delete from "?storage"?\./i;
const TRANSACTION_START = /^(begin|start transaction)\b/i;
const TRANSACTION_END = /^(commit|rollback)$/i;
const ALLOW = "select set_config('storage.allow_delete_query', 'true', true)";

/**
 * Sets `storage.allow_delete_query` whenever the service deletes rows of buckets or objects, like
 * the Storage server of a hosted project. Without it, the tables refuse deletions.
 */
export function allowStorageDeletes(driver: Driver): void {
  const reserve = driver.reserve.bind(driver);
  driver.reserve = async () => allowOn(await reserve());
}

function allowOn(connection: Reserved): Reserved {
  const run = connection.unsafe.bind(connection);
  let isInTransaction = false;
  const deleteRows = async (...statement: Parameters<typeof run>) => {
    if (isInTransaction) {
      await run(ALLOW);
      return await run(...statement);
    }
    await run("begin");
    try {
      await run(ALLOW);
      const result = await run(...statement);
      await run("commit");
      return result;
    } catch (error) {
      await run("rollback");
      throw error;
    }
  };
  const runStatement = (...statement: Parameters<typeof run>) => {
    const [text] = statement;
    if (TRANSACTION_START.test(text)) isInTransaction = true;
    if (TRANSACTION_END.test(text)) isInTransaction = false;
    return STORAGE_DELETE.test(text) ? deleteRows(...statement) : run(...statement);
  };
  return Object.assign(connection, { unsafe: runStatement });
}
