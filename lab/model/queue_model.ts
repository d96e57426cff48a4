/** A status of a task. */
export type Status =
  | "pending"
  | "running"
  | "pending_subtask"
  | "needs_human_review"
  | "completed"
  | "failed"
  | "cancelled";

/** A worker's hold on a task. */
export interface ModelLease {
  readonly id: string;
  readonly epoch: string;
}

/** A step: what it is, and the text of its first result. */
export interface ModelStep {
  readonly kind: "model" | "system";
  state: "started" | "done" | "failed";
  text: string | null;
  /** Of the lease that wrote it last. */
  readonly epoch: string;
}

/** What the queue promises about a task. */
export interface ModelTask {
  readonly id: string;
  readonly jobId: string;
  readonly parentId: string | null;
  readonly parentSeq: number | null;
  status: Status;
  epoch: string;
  pendingChildren: number;
  isCancelRequested: boolean;
  /** Whether it must not be claimed before some time. */
  isDelayed: boolean;
  /** Whether its lease has been let run out. */
  isExpired: boolean;
  attempts: number;
  deliveries: number;
  /** Returns by workers since the last ended step. */
  yields: number;
  /** Step of the open review, if one is open. */
  openReview: number | null;
  readonly reviews: Set<number>;
  readonly steps: Map<number, ModelStep>;
  /** Types of its events, in order. */
  readonly events: string[];
}

/** A result or an intent of a step. */
export interface StepPart {
  readonly seq: number;
  readonly kind: "model" | "system";
  readonly text?: string;
}

const MAX_ATTEMPTS = 5;
const MAX_DELIVERIES = 8;
/** After more, a task waits before it runs again. */
const MAX_YIELDS = 3;

/** A call that the queue refuses, with its code. */
export class Refusal extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

/**
 * What the SQL functions of the queue promise, without transactions, locks or time: each method is
 * one call, and calls happen one after the other.
 */
export class QueueModel {
  readonly tasks = new Map<string, ModelTask>();

  create(id: string, parent: ModelTask | null = null, parentSeq: number | null = null): void {
    this.tasks.set(id, {
      id,
      jobId: parent?.jobId ?? id,
      parentId: parent?.id ?? null,
      parentSeq,
      status: "pending",
      epoch: "0",
      pendingChildren: 0,
      isCancelRequested: false,
      isDelayed: false,
      isExpired: false,
      attempts: 0,
      deliveries: 0,
      yields: 0,
      openReview: null,
      reviews: new Set(),
      steps: new Map(),
      events: ["task.created"],
    });
  }

  /** Tasks that a claim may return, and those of them that it must not leave while it has room. */
  claimable(): { readonly may: readonly ModelTask[]; readonly must: readonly ModelTask[] } {
    const may = [...this.tasks.values()].filter((task) =>
      task.status === "pending" && !task.isCancelRequested && task.deliveries < MAX_DELIVERIES
    );
    return { may, must: may.filter(({ isDelayed }) => !isDelayed) };
  }

  /** @throws RangeError if the task may not be claimed. */
  claim({ id, epoch }: ModelLease): void {
    const task = this.#get(id);
    if (!this.claimable().may.includes(task)) throw new RangeError(`${id} cannot be claimed`);
    if (BigInt(epoch) <= BigInt(task.epoch)) {
      throw new RangeError(`the epoch of ${id} does not rise`);
    }
    task.events.push(task.epoch === "0" ? "task.started" : "task.resumed");
    Object.assign(task, { status: "running", epoch, isDelayed: false, isExpired: false });
    task.deliveries++;
  }

  /** @returns whether the task is to be cancelled. */
  record(lease: ModelLease, results: readonly StepPart[], next: readonly StepPart[]): boolean {
    const task = this.#hold(lease);
    task.isExpired = false;
    for (const { seq, kind, text = null } of results) {
      const step = task.steps.get(seq);
      if (step !== undefined && step.state !== "started") continue;
      task.steps.set(seq, { kind, state: "done", text, epoch: task.epoch });
      if (kind === "model") task.events.push("model.completed");
    }
    if (results.length > 0) task.yields = 0;
    if (results.length > 0 && (task.deliveries > 1 || (next.length > 0 && task.attempts > 0))) {
      task.deliveries = 1;
      if (next.length > 0) task.attempts = 0;
    }
    if (task.isCancelRequested) return true;
    for (const { seq, kind } of next) {
      if (task.steps.has(seq)) continue;
      task.steps.set(seq, { kind, state: "started", text: null, epoch: task.epoch });
      if (kind === "model") task.events.push("model.started");
    }
    return false;
  }

  /** @param createId Called for each subtask that does not exist yet. */
  spawn(lease: ModelLease, seqs: readonly number[], createId: (seq: number) => string): void {
    const task = this.#hold(lease);
    task.isExpired = false;
    if (task.isCancelRequested) throw new Refusal("TASK_CANCELLED");
    for (const seq of seqs) {
      if (this.childOf(task, seq) !== undefined) continue;
      this.create(createId(seq), task, seq);
      task.pendingChildren++;
      task.events.push("subtask.created");
    }
  }

  childOf({ id }: ModelTask, seq: number): ModelTask | undefined {
    return [...this.tasks.values()].find(({ parentId, parentSeq }) =>
      parentId === id && parentSeq === seq
    );
  }

  park(lease: ModelLease): "parked" | "continue" | "cancelled" {
    const task = this.#holdOrCancel(lease);
    if (task === null) return "cancelled";
    if (task.pendingChildren === 0) return "continue";
    this.#park(task, "pending_subtask");
    return "parked";
  }

  requestReview(lease: ModelLease, seq: number): "parked" | "continue" | "cancelled" {
    const task = this.#holdOrCancel(lease);
    if (task === null) return "cancelled";
    if (!task.reviews.has(seq)) {
      task.reviews.add(seq);
      task.openReview = seq;
      task.events.push("review.requested");
    } else if (task.openReview !== seq) return "continue";
    this.#park(task, "needs_human_review");
    return "parked";
  }

  respond(id: string): Status {
    const task = this.#get(id);
    if (task.openReview === null) {
      throw new Refusal(task.reviews.size > 0 ? "REVIEW_ALREADY_ANSWERED" : "REVIEW_NOT_FOUND");
    }
    const step = task.steps.get(task.openReview);
    if (step?.state === "started" && step.kind === "system") step.state = "done";
    task.openReview = null;
    if (task.status === "needs_human_review") task.status = "pending";
    task.events.push("review.answered");
    return task.status;
  }

  finish(lease: ModelLease): "completed" | "parked" | "cancelled" {
    const task = this.#holdOrCancel(lease);
    if (task === null) return "cancelled";
    if (task.pendingChildren > 0) {
      this.#park(task, "pending_subtask");
      return "parked";
    }
    this.#end(task, "completed");
    return "completed";
  }

  fail(lease: ModelLease, retry: "never" | "backoff"): Status {
    const task = this.#holdOrCancel(lease);
    if (task === null) return "cancelled";
    const isLast = task.attempts + 1 >= MAX_ATTEMPTS;
    if (retry === "backoff") task.attempts++;
    if (retry === "never" || isLast) this.#end(task, "failed");
    else {
      Object.assign(task, { status: "pending", isDelayed: true, deliveries: 0 });
      task.events.push("task.retried");
    }
    return task.status;
  }

  /** @returns false if the task was to be cancelled. */
  yield(lease: ModelLease): boolean {
    const task = this.#holdOrCancel(lease);
    if (task === null) return false;
    const hasProgressed = [...task.steps.values()].some(({ epoch, state }) =>
      epoch === lease.epoch && state !== "started"
    );
    task.deliveries = Math.max(0, task.deliveries - 1);
    task.yields = hasProgressed ? 0 : task.yields + 1;
    Object.assign(task, { status: "pending", isDelayed: task.yields > MAX_YIELDS });
    return true;
  }

  /** @returns how many tasks of the job it ends or marks. */
  cancel(jobId: string): number {
    const master = this.#get(jobId);
    if (master.parentId !== null) throw new Refusal("TASK_NOT_MASTER");
    if (isEnded(master)) return 0;
    return this.#cancelAll(this.#jobOf(master).filter((task) => !isEnded(task)));
  }

  retry(id: string): void {
    const task = this.#get(id);
    if (task.status !== "failed" && task.status !== "cancelled") {
      throw new Refusal("TASK_NOT_RETRYABLE");
    }
    const parent = this.#parentOf(task);
    if (parent !== null) this.#withdraw(task, parent);
    for (const seq of task.reviews) {
      // The end of the task has closed it without an answer.
      if (task.steps.get(seq)?.state === "started") task.openReview = seq;
    }
    Object.assign(task, {
      status: "pending",
      isCancelRequested: false,
      isDelayed: false,
      attempts: 0,
      deliveries: 0,
      yields: 0,
    });
    task.events.push("task.retried");
  }

  /** A task becomes due, because somebody sends its message. */
  signal(id: string): void {
    const task = this.#get(id);
    if (task.status === "pending") task.isDelayed = false;
  }

  expire({ id, epoch }: ModelLease): void {
    const task = this.#get(id);
    if (task.status === "running" && task.epoch === epoch) task.isExpired = true;
  }

  /** The task of a dead worker waits again. @returns false if it may not. */
  returnExpired(id: string): boolean {
    const task = this.#get(id);
    const isDue = task.status === "running" && task.isExpired && !task.isCancelRequested &&
      task.deliveries < MAX_DELIVERIES;
    if (!isDue) return false;
    if (
      [...task.steps.values()].some(({ kind, state }) => kind === "model" && state === "started")
    ) {
      task.events.push("model.interrupted");
    }
    Object.assign(task, { status: "pending", isExpired: false });
    return true;
  }

  /** The task of a dead worker ends, because it may not be claimed again. @returns false if it may. */
  endExpired(id: string): boolean {
    const task = this.#get(id);
    const isLast = task.isCancelRequested || task.deliveries >= MAX_DELIVERIES;
    if (task.status !== "running" || !task.isExpired || !isLast) return false;
    if (
      [...task.steps.values()].some(({ kind, state }) => kind === "model" && state === "started")
    ) {
      task.events.push("model.interrupted");
    }
    this.#end(task, task.isCancelRequested ? "cancelled" : "failed");
    return true;
  }

  isHeld({ id, epoch }: ModelLease): boolean {
    const task = this.#get(id);
    return task.status === "running" && task.epoch === epoch;
  }

  /** What must hold between calls. @throws RangeError */
  assertConsistent(): void {
    for (const task of this.tasks.values()) {
      const open = this.#childrenOf(task).filter((child) => !isEnded(child)).length;
      if (open !== task.pendingChildren) {
        throw new RangeError(`${task.id} counts its children wrong`);
      }
      const isStuck = task.status === "pending_subtask" && open === 0 && !task.isCancelRequested;
      if (isStuck) throw new RangeError(`${task.id} waits for nothing`);
    }
  }

  #get(id: string): ModelTask {
    const task = this.tasks.get(id);
    if (task === undefined) throw new Refusal("TASK_NOT_FOUND");
    return task;
  }

  #hold(lease: ModelLease): ModelTask {
    if (!this.isHeld(lease)) throw new Refusal("LEASE_LOST");
    return this.#get(lease.id);
  }

  #holdOrCancel(lease: ModelLease): ModelTask | null {
    const task = this.#hold(lease);
    if (!task.isCancelRequested) return task;
    this.#end(task, "cancelled");
    return null;
  }

  #park(task: ModelTask, status: Status): void {
    Object.assign(task, { status, deliveries: 0, isExpired: false });
    task.events.push("task.parked");
  }

  #childrenOf({ id }: ModelTask): ModelTask[] {
    return [...this.tasks.values()].filter(({ parentId }) => parentId === id);
  }

  #jobOf({ jobId }: ModelTask): ModelTask[] {
    return [...this.tasks.values()].filter((task) => task.jobId === jobId);
  }

  #parentOf({ parentId }: ModelTask): ModelTask | null {
    return parentId === null ? null : this.#get(parentId);
  }

  #end(task: ModelTask, status: Status): void {
    Object.assign(task, { status, isDelayed: false, isExpired: false, openReview: null });
    const open = this.#descendantsOf(task).filter((each) => !isEnded(each));
    this.#cancelAll(open);
    task.events.push(`task.${status}`);
    const parent = this.#parentOf(task);
    if (parent === null) return;
    this.#report(task, parent);
    const isDue = parent.status === "pending_subtask" && parent.pendingChildren === 0;
    if (isDue && !parent.isCancelRequested) parent.status = "pending";
  }

  #report(task: ModelTask, parent: ModelTask): void {
    const step = task.parentSeq === null ? undefined : parent.steps.get(task.parentSeq);
    if (step?.state === "started") step.state = task.status === "completed" ? "done" : "failed";
    parent.pendingChildren--;
    parent.events.push("subtask.finished");
  }

  #descendantsOf(task: ModelTask): ModelTask[] {
    return this.#childrenOf(task).flatMap((child) => [child, ...this.#descendantsOf(child)]);
  }

  /** Ends those that wait, deepest first, and marks those that run. */
  #cancelAll(tasks: readonly ModelTask[]): number {
    for (const task of tasks) task.isCancelRequested = true;
    const waiting = tasks.filter(({ status }) => status !== "running")
      .sort((one, other) =>
        this.#depthOf(other) - this.#depthOf(one) || (one.id < other.id ? -1 : 1)
      );
    for (const task of waiting) {
      Object.assign(task, { status: "cancelled", isDelayed: false, openReview: null });
      task.events.push("task.cancelled");
      const parent = this.#parentOf(task);
      if (parent !== null) this.#report(task, parent);
    }
    return tasks.length;
  }

  #depthOf(task: ModelTask): number {
    const parent = this.#parentOf(task);
    return parent === null ? 0 : 1 + this.#depthOf(parent);
  }

  /** The parent waits again for a subtask whose result it has not read. */
  #withdraw(task: ModelTask, parent: ModelTask): void {
    const hasGoneOn = parent.status !== "pending" && parent.status !== "pending_subtask" ||
      [...parent.steps].some(([seq, { kind }]) => kind === "model" && seq > (task.parentSeq ?? 0));
    if (isEnded(parent) || parent.isCancelRequested || hasGoneOn) {
      throw new Refusal("TASK_NOT_RETRYABLE");
    }
    const step = task.parentSeq === null ? undefined : parent.steps.get(task.parentSeq);
    if (step !== undefined) Object.assign(step, { state: "started", text: null });
    parent.pendingChildren++;
  }
}

/** Whether a task has its final status, unless somebody continues it. */
export function isEnded({ status }: Pick<ModelTask, "status">): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
