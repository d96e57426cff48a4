import { waitFor } from "../../../scripts/wait_for.ts";
import type { Sql } from "../../../shared/platform/db/sql_client.ts";

const HELD_TABLE = `
  create function public.is_over() returns boolean language plpgsql stable as $$
  begin
    perform pg_catalog.pg_advisory_xact_lock_shared(4712);
    while not pg_catalog.pg_try_advisory_xact_lock_shared(4711) loop
      perform pg_catalog.pg_sleep(0.02);
    end loop;
    return true;
  end $$;
  create table public.held as select 'ended' as state;
  alter table public.held enable row level security;
  create policy held on public.held to authenticated using (public.is_over());
  grant select on public.held to authenticated;
  grant execute on function public.is_over to authenticated;
`;
/** Adds the table `public.held`, which any signed-in user may read. */
export async function addHeldTable(sql: Sql): Promise<void> {
  await sql.unsafe(HELD_TABLE);
}

/** While it exists, statements that read the table do not end. */
export interface HeldTable extends AsyncDisposable {
  release(): Promise<void>;
}

/** Holds statements that read the table, in a transaction, until it is released. */
export async function holdTable(sql: Sql): Promise<HeldTable> {
  const released = Promise.withResolvers<void>();
  const isHeld = Promise.withResolvers<void>();
  const holding = sql.begin(async (transaction) => {
    await transaction`select pg_advisory_xact_lock(4711)`;
    isHeld.resolve();
    await released.promise;
  });
  await isHeld.promise;
  const release = async () => {
    released.resolve();
    await holding;
  };
  return { release, [Symbol.asyncDispose]: release };
}

/** Waits until a statement reads the held table. */
export async function untilHeld(sql: Sql): Promise<void> {
  await waitFor(async () => {
    const [running] = await sql`
      select from pg_locks where locktype = 'advisory' and objid = 4712`;
    return running !== undefined;
  }, { what: "the held statement to run" });
}
