// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import {
  computed,
  onScopeDispose,
  readonly,
  type Ref,
  ref,
  shallowRef,
  triggerRef,
  watch,
} from "vue";
import { projectClient, projectSwarm } from "../project/project_client.ts";
import { isOnline } from "../project/connection.ts";
import { dataOf } from "../project/request_error.ts";
import { jobNotFound } from "./job_not_found.ts";
import type { JobRows } from "./job_rows.ts";
import { applyEvent, type JobEvent, type LiveTrace } from "../pages/job/trace/apply_event.ts";
import { stepKey, type TraceStep, type TraceTask } from "../pages/job/trace/trace_model.ts";

const PAGE_SIZE = 1_000;
/** The minimum time between two reads of changed rows. */
const RECONCILE_MS = 500;
const WATCH_RENEWAL_MS = 30_000;
/** Represents the steps after the known ones. */
const NEW_STEPS = Infinity;
/** If more tasks than this have changed, everything is read again. */
const MAX_SINGLE_TASKS = 6;
const POLL_MS = 3_000;

const TASK_COLUMNS =
  "id,parent_id,parent_step_seq,agent_slug,status,created_at,started_at,finished_at";

/**
 * A job's tasks and steps, read once and then kept up to date by its channel: events change the
 * next frame, and the changed rows are read shortly after.
 */
export function useTrace(jobId: Ref<string>, rows: JobRows) {
  const trace = shallowRef<LiveTrace>(emptyTrace());
  const error = shallowRef<unknown>(null);
  const updatedAtMs = ref(0);
  const isJoined = ref(false);
  const eventCount = ref(0);
  /** Lowest changed step number, by task. */
  let changed = new Map<string, number>();
  let queued: JobEvent[] = [];
  let frame = 0;
  let reconciling: ReturnType<typeof setTimeout> | undefined;
  /** Aborted when all rows are read again, or those of another job. */
  let reading = new AbortController();
  /** Ends with the last read that has begun or waits for its turn. */
  let read: Promise<void> = Promise.resolve();

  const isActive = computed(() =>
    [...trace.value.tasks.values()].some(({ finished_at: at }) => at === null)
  );

  function readAll(): Promise<void> {
    reading.abort();
    reading = new AbortController();
    return read = readWhole(jobId.value, reading.signal);
  }

  async function readWhole(id: string, signal: AbortSignal): Promise<void> {
    try {
      const tasks = await readTasks(rows, id, signal, (page) => show(page, []));
      const steps = await readSteps(id, signal, (page) => show(tasks, page));
      if (signal.aborted) return;
      // Text that is being written is not stored in any row.
      trace.value = {
        tasks: new Map(tasks.map((task) => [task.id, task])),
        steps: new Map(steps.map((step) => [stepKey(step), step])),
        texts: trace.value.texts,
      };
      error.value = null;
      updatedAtMs.value = Date.now();
    } catch (failure) {
      if (!signal.aborted) error.value = failure;
    }
  }

  /**
   * Reads some rows after the reads before, whose rows are older, unless everything is read again
   * meanwhile.
   */
  function readSome(
    findChanges: (id: string, signal: AbortSignal) => Promise<Changes | "all" | null>,
  ): void {
    const id = jobId.value;
    const { signal } = reading;
    read = read.then(async () => {
      if (signal.aborted) return;
      try {
        const changes = await findChanges(id, signal);
        if (signal.aborted || changes === null) return;
        if (changes === "all") return await readAll();
        const pages = await Promise.all(
          changes.steps.map(([taskId, from]) => readStepsFrom(id, taskId, from)),
        );
        if (signal.aborted) return;
        show(changes.tasks, pages.flat());
        updatedAtMs.value = Date.now();
      } catch (failure) {
        if (!signal.aborted) error.value = failure;
      }
    });
  }

  /**
   * Reads what may have changed between the first read and the channel. The steps of tasks that
   * had already ended, and still have, are unchanged.
   */
  function catchUp(): void {
    readSome(async (id, signal) => {
      if (error.value !== null) return null;
      const known = trace.value.tasks;
      const tasks = await readTasks(rows, id, signal, () => {});
      const moved = tasks.filter((task) => hasMoved(known.get(task.id), task));
      const wasReopened = moved.some((task) => known.get(task.id)?.finished_at);
      if (wasReopened || moved.length > MAX_SINGLE_TASKS) return "all";
      return { tasks, steps: moved.map(({ id }) => [id, firstOpenStepOf(trace.value, id)]) };
    });
  }

  /** The first pages are shown while the next ones load. */
  function show(tasks: readonly TraceTask[], steps: readonly TraceStep[]): void {
    for (const task of tasks) trace.value.tasks.set(task.id, task);
    for (const step of steps) trace.value.steps.set(stepKey(step), step);
    triggerRef(trace);
  }

  function receive(event: JobEvent): void {
    queued.push(event);
    if (frame === 0) frame = requestAnimationFrame(flush);
  }

  /** All events since the last frame are rendered together. */
  function flush(): void {
    frame = 0;
    const events = queued;
    queued = [];
    for (const event of events) {
      applyEvent(trace.value, event);
      if (event.type !== "model.delta") noteChange(event);
    }
    eventCount.value += events.length;
    triggerRef(trace);
  }

  function noteChange({ task_id: taskId, data }: JobEvent): void {
    const seq = typeof data.step_seq === "number" ? data.step_seq : NEW_STEPS;
    changed.set(taskId, Math.min(changed.get(taskId) ?? NEW_STEPS, seq));
    reconciling ??= setTimeout(reconcile, RECONCILE_MS);
  }

  function reconcile(): void {
    reconciling = undefined;
    readSome(async (id) => {
      const tasks = changed;
      changed = new Map();
      if (tasks.size === 0) return null;
      if (tasks.size > MAX_SINGLE_TASKS) return "all";
      return {
        tasks: await readTasksById(rows, id, [...tasks.keys()]),
        // Some steps have no event of their own, such as the one that completes the task.
        steps: [...tasks].map(([taskId, from]) => [
          taskId,
          from === NEW_STEPS ? lastStepOf(trace.value, taskId) : from,
        ]),
      };
    });
  }

  watch(jobId, (id, _before, onCleanup) => {
    trace.value = emptyTrace();
    error.value = null;
    let wasJoined = false;
    void readAll();
    const unfollow = projectSwarm().job(id).listen({
      onMessage: ({ event, payload }) => receive({ type: event, ...payload }),
      onJoined: (joins) => {
        // Reads what happened before the channel was joined, or while it was disconnected.
        if (joins && !isJoined.value) {
          if (wasJoined) void readAll();
          else catchUp();
        }
        wasJoined ||= joins;
        isJoined.value = joins;
      },
    });
    onCleanup(() => {
      isJoined.value = false;
      cancelAnimationFrame(frame);
      frame = 0;
      queued = [];
      changed = new Map();
      clearTimeout(reconciling);
      reconciling = undefined;
      reading.abort();
      unfollow();
    });
  }, { immediate: true });

  // Models stream only while a user watches.
  const watching = setInterval(() => void renewWatch(), WATCH_RENEWAL_MS);
  const polling = setInterval(() => {
    if (!isJoined.value && isActive.value && isOnline.value && !document.hidden) void readAll();
  }, POLL_MS);
  async function renewWatch(): Promise<void> {
    if (document.hidden || !isActive.value || !isOnline.value) return;
    await projectClient().rpc("watch_task", { p_task_id: jobId.value });
  }
  watch([isActive, isJoined], () => void renewWatch());
  watch(isOnline, (online) => {
    if (online) void readAll();
  });
  onScopeDispose(() => {
    clearInterval(watching);
    clearInterval(polling);
  });

  return {
    trace: trace as Readonly<Ref<LiveTrace>>,
    /** The state for the page: data exists as soon as the first page has arrived. */
    data: computed(() => (trace.value.tasks.size > 0 ? trace.value : undefined)),
    error: readonly(error),
    dataUpdatedAt: readonly(updatedAtMs),
    isActive,
    isLive: readonly(isJoined),
    eventCount: readonly(eventCount),
    refetch: readAll,
  };
}

/** Rows that may have changed. */
interface Changes {
  readonly tasks: readonly TraceTask[];
  /** Tasks, each with its first step that may have changed. */
  readonly steps: readonly (readonly [taskId: string, from: number])[];
}

function emptyTrace(): LiveTrace {
  return { tasks: new Map(), steps: new Map(), texts: new Map() };
}

function hasMoved(before: TraceTask | undefined, now: TraceTask): boolean {
  return before === undefined || now.finished_at === null ||
    before.finished_at !== now.finished_at || before.status !== now.status;
}

/** The lowest step that can still change: the first unfinished one, otherwise the last one. */
function firstOpenStepOf({ steps }: LiveTrace, taskId: string): number {
  let last = 0;
  let open = Infinity;
  for (const step of steps.values()) {
    if (step.task_id !== taskId) continue;
    last = Math.max(last, step.seq);
    if (step.ended_at === null) open = Math.min(open, step.seq);
  }
  return Math.min(open, last);
}

function lastStepOf({ steps }: LiveTrace, taskId: string): number {
  let last = 0;
  for (const step of steps.values()) {
    if (step.task_id === taskId) last = Math.max(last, step.seq);
  }
  return last;
}

/** The tasks and steps of a job, read once. @throws RequestError */
export async function readTrace(
  jobId: string,
  rows: JobRows,
  signal: AbortSignal,
): Promise<{ readonly tasks: readonly TraceTask[]; readonly steps: readonly TraceStep[] }> {
  const [tasks, steps] = await Promise.all([
    readTasks(rows, jobId, signal, () => {}),
    readSteps(jobId, signal, () => {}),
  ]);
  return { tasks, steps };
}

async function readTasks(
  rows: JobRows,
  jobId: string,
  signal: AbortSignal,
  onPage: (page: readonly TraceTask[]) => void,
): Promise<TraceTask[]> {
  const all: TraceTask[] = [];
  for (;;) {
    let request = rows.tasks(jobId).select(TASK_COLUMNS)
      .eq("master_task_id", jobId).order("id").limit(PAGE_SIZE).abortSignal(signal);
    const last = all.at(-1);
    if (last !== undefined) request = request.gt("id", last.id);
    const page = dataOf(await request) as TraceTask[];
    all.push(...page);
    if (all.length === 0) throw jobNotFound(jobId);
    onPage(page);
    if (page.length < PAGE_SIZE) return all;
  }
}

async function readTasksById(
  rows: JobRows,
  jobId: string,
  ids: readonly string[],
): Promise<TraceTask[]> {
  return dataOf(
    await rows.tasks(jobId).select(TASK_COLUMNS).in("id", ids),
  ) as TraceTask[];
}

async function readSteps(
  jobId: string,
  signal: AbortSignal,
  onPage: (page: readonly TraceStep[]) => void,
): Promise<TraceStep[]> {
  const all: TraceStep[] = [];
  for (;;) {
    const request = requestSteps(jobId, all.at(-1)).abortSignal(signal);
    const page = dataOf(await request) as unknown as TraceStep[];
    all.push(...page);
    onPage(page);
    if (page.length < PAGE_SIZE) return all;
  }
}

/** The steps of a task from a number on. */
async function readStepsFrom(jobId: string, taskId: string, seq: number): Promise<TraceStep[]> {
  const request = requestSteps(jobId, { task_id: taskId, seq: seq - 1 });
  return dataOf(await request.eq("task_id", taskId)) as unknown as TraceStep[];
}

function requestSteps(jobId: string, after: Pick<TraceStep, "task_id" | "seq"> | undefined) {
  return projectClient().rpc("read_trace", {
    p_master_task_id: jobId,
    p_limit: PAGE_SIZE,
    ...(after === undefined ? {} : { p_after: { task_id: after.task_id, seq: after.seq } }),
  });
}
