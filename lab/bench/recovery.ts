import { waitFor } from "../../scripts/wait_for.ts";
import { type BenchResult, judge } from "./bench_result.ts";
import { type MeasuredStack, startMeasuredStack } from "./measured_stack.ts";
import { processTree } from "./process_memory.ts";
import { mediansOf, runRounds, spreadIn } from "./rounds.ts";
import { complete, turnOf } from "./scripted_turns.ts";
import { serverVersion } from "./server_version.ts";

const ROUNDS = 3;
const TASKS = 20;
const LEASE_SECONDS = 30;
const HEARTBEAT_SECONDS = 10;

/**
 * Recovery: kills the only worker process while 20 tasks are in a model call. Measures the time
 * until all of them run again without help: cron starts another worker, which claims the tasks of
 * the dead one when their leases expire.
 *
 * @param db `pglite`, `native` or a URL.
 */
export async function benchRecovery(db: string): Promise<BenchResult> {
  await using measured = await startMeasuredStack(db, {
    SUPASWARM_WORKER_SLOTS: `${TASKS}`,
    SUPASWARM_LEASE_SECONDS: `${LEASE_SECONDS}`,
    SUPASWARM_HEARTBEAT_SECONDS: `${HEARTBEAT_SECONDS}`,
  });
  const script = new HeldScript();
  await measured.addAgent("held", (request) => {
    const taskName = String(request.messages.find(({ role }) => role === "user")?.text);
    return script.answer(taskName, turnOf(request));
  });
  const rounds = await runRounds(
    { supaswarm: (round) => killAndRecover(measured, script, round) },
    { bench: "recovery", count: ROUNDS },
  );
  const spreads = Object.fromEntries(
    ["recovery_s", "repeated_calls_of_a_task", "repeated_ended_steps"]
      .map((name) => [name, spreadIn(rounds, "supaswarm", name)]),
  );
  return judge("recovery", {
    tasks: TASKS,
    lease_s: LEASE_SECONDS,
    ...mediansOf(spreads),
    slowest_recovery_s: spreads.recovery_s?.high ?? Number.NaN,
    most_repeated_calls_of_a_task: spreads.repeated_calls_of_a_task?.high ?? Number.NaN,
    most_repeated_ended_steps: spreads.repeated_ended_steps?.high ?? Number.NaN,
  }, {
    slowest_recovery_s: { max: LEASE_SECONDS + 5 },
    most_repeated_calls_of_a_task: { max: 1 },
    most_repeated_ended_steps: { max: 0 },
  }, {
    spreads,
    versions: await serverVersion(measured.sql),
    notes: [
      "From SIGKILL until the last task is claimed again, by the database's clock. A model call in progress is repeated; a step that had ended is not.",
    ],
  });
}

/** Answers the first turn immediately and the second after the worker is dead. */
class HeldScript {
  readonly #asked = new Map<string, number>();
  #gate = Promise.withResolvers<void>();

  async answer(taskName: string, turn: number) {
    const key = `${taskName} ${turn}`;
    this.#asked.set(key, (this.#asked.get(key) ?? 0) + 1);
    if (turn === 0) return save("first step");
    await this.#gate.promise;
    return complete();
  }

  /** Answers held and new requests from now on. */
  open(): void {
    this.#gate.resolve();
  }

  /** Clears everything and holds requests again. */
  reset(): void {
    this.#asked.clear();
    this.#gate = Promise.withResolvers();
  }

  /** The maximum number of repeated requests for one turn of a task. */
  repeats(turn: number): number {
    const counts = [...this.#asked].filter(([key]) => key.endsWith(` ${turn}`));
    return Math.max(...counts.map(([, count]) => count - 1));
  }
}

function save(value: string) {
  return { toolCalls: [{ name: "save_intermediate_data", arguments: { key: "note", value } }] };
}

async function killAndRecover(
  { sql, createTask, untilCompleted }: MeasuredStack,
  script: HeldScript,
  round: number,
) {
  script.reset();
  const names = Array.from({ length: TASKS }, (_, n) => `round ${round} task ${n}`);
  const ids = await Promise.all(names.map((input) => createTask("held", { input })));
  await waitFor(async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count
      from public.tasks as task
      join public.task_steps as step on step.task_id = task.id
      where task.status = 'running' and step.seq = 3 and step.state = 'started'`;
    return row?.count === TASKS;
  }, { timeoutMs: 60_000, what: "20 tasks in flight" });

  const [begun] = await sql<{ at: string }[]>`select clock_timestamp()::text as at`;
  for (const pid of await functionProcesses()) Deno.kill(pid, "SIGKILL");
  script.open();

  for (const id of ids) await untilCompleted(id, 120_000);
  const [row] = await sql<{ recovery_s: number; resumed: number }[]>`
    select
      extract(epoch from max(event.at) - ${begun?.at ?? ""}::timestamptz)::float8 as recovery_s,
      count(distinct event.task_id)::int as resumed
    from public.task_events as event
    where event.type = 'task.resumed' and event.at > ${begun?.at ?? ""}::timestamptz`;
  if (row?.resumed !== TASKS) throw new Error(`${row?.resumed} of ${TASKS} tasks were resumed`);
  return {
    recovery_s: row.recovery_s,
    repeated_calls_of_a_task: script.repeats(1),
    repeated_ended_steps: script.repeats(0),
  };
}

/** Finds the child processes that run edge functions. */
async function functionProcesses(): Promise<number[]> {
  const pids: number[] = [];
  for (const pid of await processTree() ?? []) {
    const commandLine = await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "");
    if (commandLine.includes("/isolate_process.ts")) pids.push(pid);
  }
  if (pids.length === 0) throw new Error("Cannot find the process of the edge functions in /proc");
  return pids;
}
