import type { StepIntent } from "../agent/planned_call.ts";
import { readGuardrailStep, readModelInput, type Step } from "../agent/task_context.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { modelAnswer } from "../../models/llm/model_port.ts";
import { createRedactor } from "../../platform/secrets/redact.ts";
import { byteLength } from "../../platform/values/byte_length.ts";
import type { FinishOutcome, Lease, StepRecord, StoredStep, TaskStore } from "./task_store.ts";
import { Watch } from "../work/watch.ts";

/**
 * A task's current steps, synchronized with the store.
 *
 * Results are collected and written together with the next intents, so that a step costs one round
 * trip. An unwritten result is lost with the worker, and its step runs again; nothing with side
 * effects starts before the results it depends on are written.
 */
export class Transcript {
  readonly #store: TaskStore;
  readonly #lease: Lease;
  readonly #steps: Map<number, Step>;
  readonly #untried = new Set<number>();
  readonly #watch: Watch;
  readonly #unrecorded: string[] = [];
  #unsaved: StepRecord[] = [];
  #otherWrites: Promise<void>[] = [];
  #savedBytes = 0;

  /** @param watch Updated by each checkpoint with how long the job is watched. */
  constructor(store: TaskStore, lease: Lease, steps: readonly Step[], watch = new Watch()) {
    this.#watch = watch;
    this.#store = store;
    this.#lease = lease;
    this.#steps = new Map(steps.map((step) => [step.seq, step]));
  }

  /** All steps in ascending order. */
  get steps(): readonly Step[] {
    return [...this.#steps.values()].sort((a, b) => a.seq - b.seq);
  }

  /** Started steps that have certainly not run in this delivery. */
  get untried(): ReadonlySet<number> {
    return this.#untried;
  }

  /** Those of them that are calls of registry tools. */
  get untriedCalls(): readonly number[] {
    return [...this.#untried].filter((seq) => this.#steps.get(seq)?.kind === "tool");
  }

  /** Bytes of data that this delivery has saved with the task. */
  get savedBytes(): number {
    return this.#savedBytes;
  }

  /**
   * Writes the intents of steps that are about to run, together with the results not yet written.
   * Existing steps are skipped.
   *
   * @throws TASK_CANCELLED if the task must end instead.
   */
  async begin(intents: readonly StepIntent[]): Promise<void> {
    const fresh = intents.filter(({ seq }) => !this.#steps.has(seq));
    if (fresh.length === 0) return await this.flush();
    if (this.#unsaved.length === 0) {
      await this.#store.begin(this.#lease, this.#withoutHidden(fresh));
    } else await this.#record(fresh);
    for (const intent of fresh) {
      this.#steps.set(intent.seq, toStep({ ...intent, state: "started", output: null }));
      this.#untried.add(intent.seq);
    }
  }

  /** Records that steps run again with a person's approval, which is used up by it. */
  async beginAgain(seqs: readonly number[]): Promise<void> {
    if (seqs.length > 0) await this.#store.beginAgain(this.#lease, seqs);
  }

  /** Marks steps as running: from now on they may have run. */
  markTried(seqs: readonly number[]): void {
    for (const seq of seqs) this.#untried.delete(seq);
  }

  /** Takes that back for a step that has certainly not run. */
  markUntried(seq: number): void {
    this.#untried.add(seq);
  }

  /** Redacts a value from all future writes; the task itself still sees it. */
  hide(values: readonly string[]): void {
    this.#unrecorded.push(...values);
  }

  /** Adds a result; it is written at the next {@linkcode flush} or {@linkcode begin}. */
  end(record: StepRecord): void {
    this.#steps.set(record.seq, toStep(record));
    this.#untried.delete(record.seq);
    this.#unsaved.push(record);
    if (record.data !== undefined) this.#savedBytes += byteLength(JSON.stringify(record.data));
  }

  /** Lets the next write, and the end of the run, wait for a write that somebody else has begun. */
  waitFor(write: Promise<void>): void {
    this.#otherWrites.push(write);
  }

  /** Waits for the writes that others have begun. */
  async otherWrites(): Promise<void> {
    await Promise.all(this.#otherWrites.splice(0));
  }

  /** Applies a step that the store itself has written. */
  adopt(intent: StepIntent, { state, output }: StoredStep): void {
    this.#steps.set(intent.seq, toStep({ ...intent, state, output }));
    this.#untried.delete(intent.seq);
  }

  /** Reads steps again that the store may have ended in the meantime. */
  async refresh(intents: readonly StepIntent[]): Promise<void> {
    for (const stored of await this.#store.begin(this.#lease, intents)) {
      const intent = intents.find(({ seq }) => seq === stored.seq);
      if (intent !== undefined) this.adopt(intent, stored);
    }
  }

  /** Adds a stored object's path to the newest result that is not yet written, if there is one. */
  attachPath(path: string): void {
    const newest = this.#unsaved.pop();
    if (newest !== undefined) this.#unsaved.push({ ...newest, storage_path: path });
  }

  /**
   * Writes the results not yet written.
   *
   * @throws TASK_CANCELLED if the task must end instead.
   */
  async flush(): Promise<void> {
    if (this.#unsaved.length > 0) await this.#record([]);
  }

  /** Ends the task, and writes the results not yet written with it. */
  async finish(output: JsonValue, reference: JsonObject | null): Promise<FinishOutcome> {
    const results = this.#takeUnsaved();
    const [outcome] = await Promise.all([
      this.#writeOrKeep(
        results,
        (written) => this.#store.finish(this.#lease, output, reference, written),
      ),
      this.otherWrites(),
    ]);
    return outcome;
  }

  async #record(next: readonly StepIntent[]): Promise<void> {
    const results = this.#takeUnsaved();
    const [{ isCancelled, watchedSeconds = 0 }] = await Promise.all([
      this.#writeOrKeep(
        results,
        (written) => this.#store.record(this.#lease, written, this.#withoutHidden(next)),
      ),
      this.otherWrites(),
    ]);
    this.#watch.note(watchedSeconds);
    if (isCancelled) throw new SwarmError("TASK_CANCELLED", "The task is being cancelled");
  }

  #takeUnsaved(): readonly StepRecord[] {
    const results = this.#unsaved;
    this.#unsaved = [];
    return results;
  }

  #withoutHidden<Written extends StepIntent>(steps: readonly Written[]): readonly Written[] {
    if (this.#unrecorded.length === 0 || steps.length === 0) return steps;
    const redactor = createRedactor(this.#unrecorded);
    return redactor.json(steps as unknown as JsonValue) as unknown as readonly Written[];
  }

  /** A cap that forbids the next step or the end must not lose the results of the last step. */
  async #writeOrKeep<Outcome>(
    results: readonly StepRecord[],
    write: (results: readonly StepRecord[]) => Promise<Outcome>,
  ): Promise<Outcome> {
    const written = this.#withoutHidden(results);
    try {
      return await write(written);
    } catch (error) {
      if (results.length > 0 && isRefusal(error)) {
        await this.#store.record(this.#lease, written, []);
      }
      throw error;
    }
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof SwarmError && error.code !== "LEASE_LOST" &&
    error.code !== "DATABASE_UNAVAILABLE";
}

interface StepParts extends StepIntent {
  readonly state: Step["state"];
  readonly output: JsonValue;
}

function toStep({ seq, kind, state, name, call_id, input, output }: StepParts): Step {
  if (kind === "model") {
    return {
      kind,
      seq,
      state,
      input: readModelInput(input),
      output: state === "started" ? null : modelAnswer.parse(output),
    };
  }
  if (kind === "guardrail") {
    const stored = { kind, seq, state, name, call_id, input, output };
    return readGuardrailStep(state === "started" ? { ...stored, output: null } : stored);
  }
  return { kind, seq, state, name: name ?? "", call_id: call_id ?? "", input, output };
}
