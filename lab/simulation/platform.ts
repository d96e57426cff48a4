import type { Dice } from "./dice.ts";
import type { Isolates } from "./isolates.ts";
import { time } from "./virtual_globals.ts";
import type { WorldPorts } from "./world_ports.ts";

const TICK_MS = 15_000;
/** Those that matter within minutes. */
const CRON_JOBS = ["tick", "run_due_schedules"];

/** What the platform does by itself: cron and the delivery of requests that the database sends. */
export class Platform {
  readonly #world: WorldPorts;
  readonly #functions: ReadonlyMap<string, Isolates>;
  readonly #dice: Dice;
  #isRequestDue = false;

  /** @param functions The isolates of each edge function that the database wakes. */
  constructor(world: WorldPorts, functions: ReadonlyMap<string, Isolates>) {
    this.#world = world;
    this.#functions = functions;
    this.#dice = world.dice("the platform");
  }

  start(): void {
    for (const job of CRON_JOBS) this.#plan(job);
    const { scheduler, disturbances, trace, shares } = this.#world;
    const jumpMs = this.#dice.int(1_000, 90_000);
    const atMs = this.#dice.int(5_000, 60_000);
    const fault = disturbances.pick(this.#dice, shares().cron, "the clock", ["jumps"]);
    if (fault === null) return;
    scheduler.after(atMs, null, () => {
      trace?.add("clock", `jumps by ${jumpMs} ms`);
      time.ms += jumpMs;
    });
  }

  #plan(job: string): void {
    const { scheduler, disturbances, shares, transact, trace, report } = this.#world;
    const lateMs = this.#dice.int(5_000, 75_000);
    const fault = disturbances.pick(this.#dice, shares().cron, "cron", ["is late"]);
    const delayMs = TICK_MS + (fault === null ? 0 : lateMs);
    scheduler.after(delayMs, null, async () => {
      this.#plan(job);
      trace?.add("cron", `${job}()`);
      try {
        await transact(`select private.${job}()`, [], job);
      } catch (error) {
        report("no call fails unexpectedly", `${job}: ${(error as Error).message}`);
      }
    });
  }

  /** A notification of the database. */
  hear(channel: string, payload: string): void {
    if (channel === "supaswarm_tasks") this.#functions.get("supaswarm-worker")?.notify(payload);
    if (channel === "supaswarm_net") this.#request();
  }

  /** pg_net sends requests in batches. */
  #request(): void {
    if (this.#isRequestDue) return;
    this.#isRequestDue = true;
    const { scheduler, disturbances, shares, transact, trace } = this.#world;
    const fault = disturbances.pick(this.#dice, shares().wake, "a wake", ["is lost"]);
    scheduler.after(this.#dice.int(5, 800), null, async () => {
      this.#isRequestDue = false;
      const requests = await transact(
        `with sent as (delete from net.http_request_queue returning url)
         select distinct substring(url from '[^/]+$') as name from sent order by 1`,
        [],
        "net",
      ) as { name: string }[];
      for (const { name } of requests) {
        if (fault === null) this.#functions.get(name)?.wake();
        else trace?.add("platform", `loses a wake of ${name}`);
      }
    });
  }
}
