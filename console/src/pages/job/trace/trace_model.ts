/** A task of a job, without its input and output. */
export interface TraceTask {
  readonly id: string;
  readonly parent_id: string | null;
  readonly parent_step_seq: number | null;
  readonly agent_slug: string | null;
  readonly status: string;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
}

/** A step of a task, without its input and output. */
export interface TraceStep {
  readonly task_id: string;
  readonly seq: number;
  readonly kind: string;
  readonly name: string | null;
  readonly server: string | null;
  readonly state: string;
  readonly error_code: string | null;
  readonly usage: StepUsage | null;
  readonly cost_micro_usd: number | null;
  readonly interruptions: number;
  readonly started_at: string;
  readonly ended_at: string | null;
  /** The first words of an answer, of a call's arguments or of an error; null if there are none. */
  readonly summary: string | null;
}

/** The usage of a model call. */
export interface StepUsage {
  readonly model?: string;
  readonly input_tokens?: number;
  readonly cached_input_tokens?: number;
  readonly output_tokens?: number;
}

export interface TraceRow {
  /** The task's ID, followed by its number for a step. */
  readonly key: string;
  readonly kind: "task" | "step";
  readonly task: TraceTask;
  readonly step: TraceStep | null;
  /** 1 for the job itself. */
  readonly level: number;
  readonly childCount: number;
  readonly isExpanded: boolean;
  readonly isFailed: boolean;
  /** It waits for a person or for subtasks and does no work meanwhile. */
  readonly isWaiting: boolean;
  readonly startMs: number;
  /** Null while it runs. */
  readonly endMs: number | null;
  /** The steps below a closed row; null for a row that hides none. */
  readonly hidden: TraceTotals | null;
}

/** Sums over steps. */
export interface TraceTotals {
  readonly stepCount: number;
  readonly failedCount: number;
  readonly tokens: number;
  readonly costMicroUsd: number;
}

/** Which rows of a trace are visible. */
export interface TraceView {
  /** Keys of rows whose children are hidden. */
  readonly collapsed: ReadonlySet<string>;
  readonly isFailedOnly: boolean;
  readonly search: string;
  /** Keys of rows whose inputs, outputs or errors contain the searched text. */
  readonly found?: ReadonlySet<string>;
}

/** Steps during which a task only waits. */
const WAITING_STEPS = new Set(["request_human_review", "create_subtask"]);

/** The name and times of a step. */
export interface StepMoments {
  readonly key: string;
  readonly startMs: number;
  /** Null while it runs. */
  readonly endMs: number | null;
}

/**
 * Cached by step object, because a change creates a new object. A live job is rendered every
 * frame, and reading the times of thousands of steps would take longer than a frame.
 */
const momentsOfSteps = new WeakMap<TraceStep, StepMoments>();

/** A step's key and times. */
export function momentsOf(step: TraceStep): StepMoments {
  const known = momentsOfSteps.get(step);
  if (known !== undefined) return known;
  const moments = {
    key: stepKey(step),
    startMs: Date.parse(step.started_at),
    endMs: endOf(step.ended_at),
  };
  momentsOfSteps.set(step, moments);
  return moments;
}

export function stepKey({ task_id: taskId, seq }: { task_id: string; seq: number }): string {
  return `${taskId}:${seq}`;
}

/** The job's tasks and steps as rows, from top to bottom, in linear time. */
export function traceRows(
  tasks: readonly TraceTask[],
  steps: readonly TraceStep[],
  view: TraceView,
): TraceRow[] {
  const stepsOf = Map.groupBy(steps, ({ task_id: taskId }) => taskId);
  for (const list of stepsOf.values()) list.sort((a, b) => a.seq - b.seq);
  const known = new Set(tasks.map(({ id }) => id));
  const childrenOf = Map.groupBy(
    tasks.filter(({ parent_id: parentId }) => parentId !== null && known.has(parentId)),
    ({ parent_id: parentId, parent_step_seq: seq }) => `${parentId}:${seq ?? ""}`,
  );
  const roots = tasks.filter(({ parent_id: id }) => id === null || !known.has(id));
  const isLimited = view.isFailedOnly || view.search.trim() !== "";
  const isWanted = isLimited ? wantedRows(tasks, steps, view) : null;
  const rows: TraceRow[] = [];

  /** The sums over all steps of tasks and their subtasks. */
  function totalsBelow(tasks: readonly TraceTask[]): TraceTotals {
    let totals = NO_STEPS;
    const open = [...tasks];
    for (let task = open.pop(); task !== undefined; task = open.pop()) {
      const own = stepsOf.get(task.id) ?? [];
      totals = addSteps(totals, own);
      open.push(...childrenOf.get(`${task.id}:`) ?? []);
      for (const step of own) open.push(...childrenOf.get(momentsOf(step).key) ?? []);
    }
    return totals;
  }

  // Uses a stack instead of recursion, because subtasks may nest deeper than calls can.
  type Pending = { readonly task: TraceTask; readonly level: number } | TraceRow;
  const pending: Pending[] = roots.map((task) => ({ task, level: 1 })).reverse();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if ("key" in next) {
      rows.push(next);
      continue;
    }
    const { task, level } = next;
    if (isWanted !== null && !isWanted.has(task.id)) continue;
    const own = (stepsOf.get(task.id) ?? []).filter((step) =>
      isWanted === null || isWanted.has(momentsOf(step).key)
    );
    const unplaced = childrenOf.get(`${task.id}:`) ?? [];
    // Search results are shown even below closed rows.
    const isExpanded = isLimited || !view.collapsed.has(task.id);
    const childCount = own.length + unplaced.length;
    const hidden = isExpanded ? null : totalsBelow([task]);
    rows.push(taskRow(task, { level, childCount, isExpanded, hidden }));
    if (!isExpanded) continue;
    const children: Pending[] = [];
    for (const step of own) {
      const { key } = momentsOf(step);
      const subtasks = childrenOf.get(key) ?? [];
      const isExpanded = isLimited || !view.collapsed.has(key);
      const childCount = subtasks.length;
      const hidden = isExpanded || childCount === 0 ? null : totalsBelow(subtasks);
      children.push(stepRow(step, { task, level: level + 1, childCount, isExpanded, hidden }));
      if (isExpanded) {
        children.push(...subtasks.map((subtask) => ({ task: subtask, level: level + 2 })));
      }
    }
    children.push(...unplaced.map((subtask) => ({ task: subtask, level: level + 1 })));
    for (let index = children.length - 1; index >= 0; index--) {
      const child = children[index];
      if (child !== undefined) pending.push(child);
    }
  }
  return rows;
}

const NO_STEPS: TraceTotals = { stepCount: 0, failedCount: 0, tokens: 0, costMicroUsd: 0 };

/** The tokens and cost of a row: its own, and those that it hides. */
export function totalsOf({ step, hidden }: Pick<TraceRow, "step" | "hidden">): TraceTotals {
  return addSteps(hidden ?? NO_STEPS, step === null ? [] : [step]);
}

function addSteps(totals: TraceTotals, steps: readonly TraceStep[]): TraceTotals {
  let { stepCount, failedCount, tokens, costMicroUsd } = totals;
  for (const { state, usage, cost_micro_usd: cost } of steps) {
    stepCount++;
    if (state === "failed") failedCount++;
    tokens += (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);
    costMicroUsd += cost ?? 0;
  }
  return { stepCount, failedCount, tokens, costMicroUsd };
}

/** Keys of the matching rows and of all rows above them. */
function wantedRows(
  tasks: readonly TraceTask[],
  steps: readonly TraceStep[],
  { isFailedOnly, search, found }: TraceView,
): ReadonlySet<string> {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const text = search.trim().toLowerCase();
  const wanted = new Set<string>();

  function keepAbove(task: TraceTask | undefined): void {
    for (let above = task; above !== undefined && !wanted.has(above.id);) {
      wanted.add(above.id);
      if (above.parent_id === null) return;
      if (above.parent_step_seq !== null) wanted.add(`${above.parent_id}:${above.parent_step_seq}`);
      above = byId.get(above.parent_id);
    }
  }

  const matches = (key: string, said: string) =>
    text === "" || said.toLowerCase().includes(text) || found?.has(key) === true;
  for (const step of steps) {
    const { key } = momentsOf(step);
    if (isFailedOnly && step.state !== "failed") continue;
    if (!matches(key, `${stepLabel(step)} ${step.summary ?? ""}`)) continue;
    wanted.add(key);
    keepAbove(byId.get(step.task_id));
  }
  for (const task of tasks) {
    if (isFailedOnly && task.status !== "failed") continue;
    if (matches(task.id, `${task.agent_slug ?? ""} ${task.id}`)) keepAbove(task);
  }
  return wanted;
}

/** Keys of all rows above the row of a task or step. */
export function keysAbove(key: string, tasks: ReadonlyMap<string, TraceTask>): ReadonlySet<string> {
  const above = new Set<string>();
  const [taskId = "", seq] = key.split(":");
  if (seq !== undefined) above.add(taskId);
  for (let task = tasks.get(taskId); task !== undefined && task.parent_id !== null;) {
    if (above.has(task.parent_id)) break;
    above.add(task.parent_id);
    if (task.parent_step_seq !== null) above.add(`${task.parent_id}:${task.parent_step_seq}`);
    task = tasks.get(task.parent_id);
  }
  return above;
}

/** The display name of a step. */
export function stepLabel({ kind, name, usage, server, error_code: code }: TraceStep): string {
  const what = kind === "model"
    ? usage?.model ?? "Model"
    : kind === "user"
    ? "Message"
    : name ?? kind;
  const label = server === null || server === "" ? what : `${server} · ${what}`;
  return code === null ? label : `${label} ${code}`;
}

/** The models that answered, those with the most answers first. */
export function modelsOf(steps: readonly TraceStep[]): string[] {
  const answers = Map.groupBy(steps, ({ usage }) => usage?.model ?? "");
  answers.delete("");
  return [...answers].sort(([, a], [, b]) => b.length - a.length).map(([model]) => model);
}

function taskRow(
  task: TraceTask,
  parts: Pick<TraceRow, "level" | "childCount" | "isExpanded" | "hidden">,
): TraceRow {
  return {
    key: task.id,
    kind: "task",
    task,
    step: null,
    ...parts,
    isFailed: task.status === "failed",
    isWaiting: false,
    startMs: Date.parse(task.started_at ?? task.created_at),
    endMs: endOf(task.finished_at),
  };
}

function endOf(at: string | null): number | null {
  return at === null ? null : Date.parse(at);
}

function stepRow(
  step: TraceStep,
  parts: Pick<TraceRow, "task" | "level" | "childCount" | "isExpanded" | "hidden">,
): TraceRow {
  const { key, startMs, endMs } = momentsOf(step);
  return {
    key,
    kind: "step",
    step,
    ...parts,
    isFailed: step.state === "failed",
    isWaiting: WAITING_STEPS.has(step.name ?? ""),
    startMs,
    // A step that its task abandoned ends no later than the task.
    endMs: endMs ?? endOf(parts.task.finished_at),
  };
}
