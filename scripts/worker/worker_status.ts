import process from "node:process";
import type { WorkerProcess } from "../../shared/app/worker_process.ts";
import type { Logger } from "../../shared/platform/log/logger.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";

/** Counts the lines of a log by event, and the runs that have ended by how they ended. */
export class EventCounts {
  readonly #counts = new Map<string, number>();

  /** A logger that also counts what its level leaves out. */
  counting(log: Logger): Logger {
    return (level, event, fields) => {
      const end = fields !== undefined && "end" in fields ? String(fields.end) : null;
      const labels = end === null ? `event="${event}"` : `event="${event}",end="${end}"`;
      this.#counts.set(labels, (this.#counts.get(labels) ?? 0) + 1);
      log(level, event, fields);
    };
  }

  get lines(): string[] {
    return [...this.#counts].map(([labels, count]) => `supaswarm_events_total{${labels}} ${count}`);
  }
}

/**
 * Answers `/health` (the process runs), `/ready` (it reaches a database of its release; 503 with the
 * reason otherwise, and while it stops) and `/metrics` (text format of Prometheus, version 0.0.4).
 */
export function createStatusHandler(
  worker: Pick<WorkerProcess, "assertReady" | "freeSlots">,
  counts: EventCounts,
  isStopping: () => boolean,
): (request: Request) => Promise<Response> {
  return async (request) => {
    switch (new URL(request.url).pathname) {
      case "/health":
        return Response.json({ ok: true });
      case "/ready":
        return await readiness(worker, isStopping());
      case "/metrics":
        return new Response(metrics(worker.freeSlots(), counts), {
          headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
        });
      default:
        return Response.json({ error: "Use /health, /ready or /metrics" }, { status: 404 });
    }
  };
}

async function readiness(
  { assertReady }: Pick<WorkerProcess, "assertReady">,
  isStopping: boolean,
): Promise<Response> {
  if (isStopping) return Response.json({ ready: false, reason: "stopping" }, { status: 503 });
  try {
    await assertReady();
    return Response.json({ ready: true });
  } catch (error) {
    const reason = error instanceof SwarmError ? error.code : "INTERNAL";
    return Response.json({ ready: false, reason }, { status: 503 });
  }
}

function metrics(freeSlots: Readonly<Record<string, number>>, counts: EventCounts): string {
  const { user, system } = process.cpuUsage();
  const lines = [
    ...family("supaswarm_events_total", "counter", "Events of the worker by name.", counts.lines),
    ...family(
      "supaswarm_free_slots",
      "gauge",
      "How much more work would be claimed now.",
      Object.entries(freeSlots).map(([name, count]) =>
        `supaswarm_free_slots{function="${name}"} ${count}`
      ),
    ),
    ...family("process_cpu_seconds_total", "counter", "CPU time in seconds.", [
      `process_cpu_seconds_total ${(user + system) / 1_000_000}`,
    ]),
    ...family("process_resident_memory_bytes", "gauge", "Resident memory in bytes.", [
      `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
    ]),
    ...family("process_start_time_seconds", "gauge", "When the process started, in Unix time.", [
      `process_start_time_seconds ${Math.round(performance.timeOrigin) / 1_000}`,
    ]),
  ];
  return `${lines.join("\n")}\n`;
}

function family(name: string, type: string, help: string, samples: readonly string[]): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples];
}
