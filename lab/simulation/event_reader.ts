import type { Dice } from "./dice.ts";
import type { WorldPorts } from "./world_ports.ts";

interface EventPage {
  readonly events: readonly { readonly id: number; readonly task_id: string }[];
  readonly next_cursor: string;
  readonly has_more: boolean;
}

/** A client that reads the events of a job page by page, at any moments, with pages of any size. */
export class EventReader {
  readonly #jobId: string;
  readonly #world: WorldPorts;
  readonly #dice: Dice;
  readonly #ids = new Set<number>();
  #cursor: string | null = null;

  constructor(jobId: string, world: WorldPorts) {
    this.#jobId = jobId;
    this.#world = world;
    this.#dice = world.dice(`reader of ${jobId}`);
  }

  start(): void {
    const delayMs = this.#dice.chance(0.3) ? this.#dice.int(0, 50) : this.#dice.int(200, 20_000);
    this.#world.scheduler.after(delayMs, null, async () => {
      this.start();
      await this.#readPage(this.#dice.int(1, 30));
    });
  }

  /** Reads the rest, and compares everything that it has read with the stored events. */
  async end(): Promise<void> {
    while (await this.#readPage(1_000));
    const rows = await this.#world.transact(
      "select id::float8 as id from public.task_events where master_task_id = $1::uuid order by id",
      [this.#jobId],
      "events",
    ) as { id: number }[];
    const lost = rows.filter(({ id }) => !this.#ids.has(id));
    if (lost.length === 0 && rows.length >= this.#ids.size) return;
    // The job may have been deleted, with all of its events.
    if (rows.length === 0) return;
    this.#world.report(
      "no event is lost to a cursor",
      `${this.#jobId} has ${rows.length} events, of which ${lost.length} were not read`,
    );
  }

  /** @returns whether more follows. */
  async #readPage(limit: number): Promise<boolean> {
    const { transact, report, shares, disturbances } = this.#world;
    // Thrown for every page, so that leaving one fault out changes no other.
    const fault = disturbances.pick(this.#dice, shares().database, "a reader", ["loses a page"]);
    let page: EventPage;
    try {
      const [row] = await transact(
        "select public.read_events(p_task_id => $1::uuid, p_cursor => $2, p_limit => $3) as page",
        [this.#jobId, this.#cursor, limit],
        "read_events",
      ) as { page: EventPage }[];
      page = row?.page as EventPage;
    } catch (error) {
      // The job was deleted.
      if ((error as { code?: string }).code === "PT404") return false;
      throw error;
    }
    if (fault !== null) return true;
    for (const { id, task_id } of page.events) {
      if (this.#ids.has(id)) {
        report("no event is lost to a cursor", `${id} of ${task_id} was returned twice`);
      }
      this.#ids.add(id);
    }
    this.#cursor = page.next_cursor;
    return page.has_more;
  }
}
