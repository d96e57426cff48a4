import { createSqlTaskStore } from "../../shared/engine/worker/sql_task_store.ts";
import type { TaskPorts } from "../../shared/engine/worker/task_ports.ts";
import { createTaskWorker } from "../../shared/engine/worker/task_worker.ts";
import { NO_TELEMETRY } from "../../shared/platform/telemetry/telemetry.ts";
import type { IsolateParts, WorkerFunction } from "./isolates.ts";
import { watchLeases } from "./lease_watch.ts";
import { type QuietQueue, skipEmptyClaims } from "./quiet_queue.ts";
import { createSimulatedGateway } from "./simulated_gateway.ts";
import { callSimulatedModel } from "./simulated_model.ts";
import { createSimulatedSql } from "./simulated_sql.ts";
import type { WorldPorts } from "./world_ports.ts";

/** The defaults of `SUPASWARM_WORKER_SLOTS` and its neighbors. */
const SETTINGS = { slots: 8, leaseSeconds: 30, heartbeatSeconds: 10, idleSeconds: 20 };

/** The edge function that runs tasks. */
export function createTaskFunction(world: WorldPorts, queue: QuietQueue): WorkerFunction {
  return {
    name: "supaswarm-worker",
    isolateName: "isolate",
    createWorker: ({ lifetime, listen, ...parts }) =>
      createTaskWorker({
        id: crypto.randomUUID(),
        ports: portsOf(parts, world, queue),
        settings: SETTINGS,
        lifetime,
        ...listen && { listen },
      }),
  };
}

function portsOf(
  { process, clock, log }: Pick<IsolateParts, "process" | "clock" | "log">,
  world: WorldPorts,
  queue: QuietQueue,
): TaskPorts {
  const { leaseSeconds } = SETTINGS;
  const sqlStore = createSqlTaskStore(createSimulatedSql(process, world), { leaseSeconds, clock });
  const { store, assertHeld } = watchLeases(sqlStore, process, world);
  const gateway = createSimulatedGateway(process, world);
  return {
    store: skipEmptyClaims({
      ...store,
      async claim(...request) {
        const tasks = await store.claim(...request);
        world.journal.contexts.push(...tasks.map(({ context }) => context));
        return tasks;
      },
    }, queue),
    callModel: (call) => {
      // An aborted call is not sent.
      if (!call.signal.aborted) assertHeld(call.context.task.id, "the model");
      return callSimulatedModel(process, call, world);
    },
    gateway: {
      ...gateway,
      call: (request, signal) => {
        if (!signal.aborted) assertHeld(request.caller.taskId ?? "", request.toolName);
        return gateway.call(request, signal);
      },
    },
    artifacts: { put: () => Promise.resolve() },
    describeFiles: () => Promise.resolve([]),
    clock,
    telemetry: NO_TELEMETRY,
    log,
  };
}
