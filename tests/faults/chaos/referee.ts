import { z } from "../../../shared/vendor/zod.js";
import { POINTS, type SeededFault, seededFaultAt } from "./seeded_faults.ts";
import type { ChaosDatabase } from "./chaos_database.ts";
import type { WorkerPool } from "./worker_pool.ts";

/** The referee's actions, and the workers' reports. */
export interface RefereeCounts {
  kills: number;
  freezes: number;
  /** Freezes after which the worker found its task ended or with another worker. */
  zombies: number;
  connectionCuts: number;
  /** Writes that the database refused because another worker had the lease. */
  staleWritesRefused: number;
}

/** The dependencies of a referee. */
export interface RefereeOptions {
  readonly seed: number;
  readonly database: ChaosDatabase;
  readonly leaseSeconds: number;
  /** The maximum number of frozen workers; others must take over their tasks. */
  readonly frozenWorkersMax: number;
}

/** Receives every point of every step and applies the faults of the seed, each of them once. */
export interface Referee extends AsyncDisposable {
  readonly url: string;
  readonly counts: Readonly<RefereeCounts>;
  /** The workers that it controls; everyone waits until they are set. */
  rule(pool: WorkerPool): void;
}

const encounterSchema = z.object({
  taskId: z.string(),
  epoch: z.string(),
  position: z.string(),
  seqs: z.array(z.int()),
  point: z.enum(POINTS),
});
type EncounterMessage = z.infer<typeof encounterSchema>;

/** The maximum freeze, in leases. */
const LONGEST_FREEZE_LEASES = 3;

/** Starts a referee on 127.0.0.1; the workers call it over HTTP. */
export function startReferee(options: RefereeOptions): Referee {
  const { seed, database, leaseSeconds, frozenWorkersMax } = options;
  const counts: RefereeCounts = {
    kills: 0,
    freezes: 0,
    zombies: 0,
    connectionCuts: 0,
    staleWritesRefused: 0,
  };
  const dealt = new Set<string>();
  const ruling = Promise.withResolvers<WorkerPool>();

  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const [, workerId = "", path] = new URL(request.url).pathname.split("/");
      const message: unknown = await request.json();
      if (path === "refused") counts.staleWritesRefused++;
      else await meet(workerId, encounterSchema.parse(message));
      return new Response();
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    counts,
    rule: ruling.resolve,
    async [Symbol.asyncDispose]() {
      await server.shutdown();
    },
  };

  async function meet(workerId: string, encounter: EncounterMessage): Promise<void> {
    const faults = encounter.seqs.map((seq) => deal(encounter, seq));
    const fault = faults.find((candidate) => candidate !== null) ?? null;
    if (fault === null) return;
    const pool = await ruling.promise;
    switch (fault) {
      case "kill":
        if (pool.kill(workerId)) counts.kills++;
        return;
      case "freeze":
        return await freeze(pool, workerId, encounter);
      case "cut":
        return await cut(pool, workerId);
    }
  }

  /** A fault at a point does not happen again when the step is retried. */
  function deal({ position, point }: EncounterMessage, seq: number): SeededFault | null {
    const place = `${position} ${seq} ${point}`;
    if (dealt.has(place)) return null;
    dealt.add(place);
    return seededFaultAt({ seed, position, seq, point });
  }

  async function freeze(
    pool: WorkerPool,
    workerId: string,
    { taskId, epoch }: EncounterMessage,
  ): Promise<void> {
    if (pool.frozenCount >= frozenWorkersMax || !pool.freeze(workerId)) return;
    counts.freezes++;
    const beganAtMs = Date.now();
    const wakesAtMs = beganAtMs + LONGEST_FREEZE_LEASES * leaseSeconds * 1_000;
    let isTaken = false;
    while (!isTaken && Date.now() < wakesAtMs) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      isTaken = await database.isLeaseOver(taskId, epoch);
    }
    pool.note(workerId, beganAtMs);
    if (pool.thaw(workerId) && isTaken) counts.zombies++;
  }

  async function cut(pool: WorkerPool, workerId: string): Promise<void> {
    const beganAtMs = Date.now();
    const isCut = await database.cutConnections(workerId);
    pool.note(workerId, beganAtMs);
    if (!isCut) return;
    counts.connectionCuts++;
  }
}
