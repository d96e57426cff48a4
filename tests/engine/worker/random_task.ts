import type { AgentState } from "../../../shared/engine/agent/agent_state.ts";
import { call, stateOf, toolNamed } from "../../../shared/engine/agent/agent_states.ts";
import type { Decision } from "../../../shared/engine/agent/decide.ts";
import type { RunnableCall, StepIntent } from "../../../shared/engine/agent/planned_call.ts";
import { recalledResult } from "../../../shared/engine/agent/recalled_result.ts";
import {
  errorResult,
  type StepResult,
  textResult,
} from "../../../shared/engine/agent/step_result.ts";
import { type Review, type Step, taskContext } from "../../../shared/engine/agent/task_context.ts";
import type { ModelToolCall } from "../../../shared/models/llm/model_port.ts";
import {
  asJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../shared/platform/values/json.ts";
import { modelInputOf } from "../../../shared/engine/worker/run_model_call.ts";

/** Makes the choices of a random task. */
export interface Choices {
  readonly pick: <T>(values: readonly T[]) => T;
  readonly chance: (percent: number) => boolean;
}

/** A step as its row has it. Keys are in the order of jsonb, because prompts contain some values as JSON. */
export interface StepRow {
  readonly seq: number;
  readonly kind: Step["kind"];
  readonly state: Step["state"];
  readonly name: string | null;
  readonly call_id: string | null;
  readonly input: JsonValue;
  readonly output: JsonValue;
}

const TOOLS = [
  toolNamed("read_mail", { server: "mail", dataFlows: ["reads_private"], isReadOnly: true }),
  toolNamed("send_mail", {
    server: "mail",
    dataFlows: ["sends_outside"],
    destination: "mail.test",
  }),
  toolNamed("search_pages", { server: "web", dataFlows: ["reads_outside"], isReadOnly: true }),
  toolNamed("list_files"),
  toolNamed("write_file"),
];
const GUARDRAILS = [
  { stage: "input", server: "guard", tool_name: "check_input" },
  { stage: "output", server: "guard", tool_name: "check_output" },
] as const;
const RESULT_SCHEMA = { type: "object", required: ["ok"], properties: { ok: { type: "boolean" } } };
const TEXT_CHARS = [10, 300, 1_400, 1_600, 4_000];

/** The settings of a random task, which an operator may change between two claims. */
export function randomState({ pick, chance }: Choices): AgentState {
  return stateOf({
    tools: TOOLS.map((tool) => chance(20) ? { ...tool, dataFlows: [] } : tool),
    toolSearchBytes: pick([0, 100_000]),
    windowTokens: pick([6_000, 8_000, 12_000]),
    mustComplete: chance(30),
    guardrails: GUARDRAILS.filter(() => chance(30)),
    providerTools: chance(40) ? ["web_search"] : [],
    providerRules: pick([{}, { web_search: ["always"] }]),
    ...(chance(60) ? { outputSchema: RESULT_SCHEMA } : {}),
    ...(chance(30) ? { maxTurns: pick([5, 12, 30]) } : {}),
    maxContinuations: pick([0, 2, 3]),
  });
}

/**
 * Carries decisions out as a worker would, with random answers of the model and the tools. Workers
 * die, calls fail, and the user continues or retries the task whenever it has ended.
 */
export class RandomTask {
  readonly rows = new Map<number, StepRow>();
  readonly #choices: Choices;
  readonly #reviews: Review[] = [];
  readonly #spawned = new Set<number>();
  /** How often the model tries to end the task. */
  readonly #endsPercent: number;
  #isTaken = false;
  #isConfused = false;
  #isCut = false;
  /** Every tool fails with the same error, and the model repeats its calls. */
  #stuckWith: string | null = null;
  #lastCalls: readonly ModelToolCall[] = [];

  constructor(choices: Choices) {
    this.#choices = choices;
    this.#endsPercent = choices.pick([4, 12]);
  }

  /** The whole transcript, as a claim without a summary sends it. */
  get steps(): readonly Step[] {
    const rows = [...this.rows.values()].sort((a, b) => a.seq - b.seq);
    return taskContext.shape.steps.parse(rows);
  }

  /** The state with these settings and the whole transcript. */
  stateWith({ context, ...settings }: AgentState): AgentState {
    return {
      ...settings,
      context: { ...context, reviews: this.#reviews },
      steps: this.steps,
      spawned: this.#spawned,
    };
  }

  /**
   * Returns false if the task cannot go on: its prompt is too long, or settings that changed in the
   * middle of a run give a step the number of another one.
   */
  carryOut(decision: Decision): boolean {
    this.#carryOut(decision);
    const isTooLong = decision.kind === "fail" && decision.error.code === "MODEL_CONTEXT_EXCEEDED";
    return !isTooLong && !this.#isTaken;
  }

  #carryOut(decision: Decision): void {
    const { chance } = this.#choices;
    switch (decision.kind) {
      case "call_model":
        this.#callModel(decision);
        return;
      case "summarize": {
        const { seq, through } = decision;
        const intent = modelIntent(seq, { summarizes_through: through });
        this.#end(intent, { state: "done", output: this.#answer([], this.#text()) });
        return;
      }
      case "check":
        for (const { intent } of decision.checks) this.#check(intent);
        return;
      case "run_calls":
        for (const planned of decision.calls) {
          if (chance(3)) this.#begin(planned.intent);
          else this.#end(planned.intent, this.#resultOf(planned));
        }
        if (chance(3)) this.#continue();
        return;
      case "spawn":
        for (const { intent } of decision.calls) {
          this.#begin(intent);
          this.#spawned.add(intent.seq);
        }
        return;
      case "park":
        for (const intent of decision.awaited) this.#end(intent, this.#subtaskResult());
        return;
      case "review":
        this.#answerReview(decision);
        return;
      case "finish": {
        const { completion } = decision;
        if (completion !== null) this.#end(completion, textResult("The task is complete."));
        this.#continue();
        return;
      }
      case "fail":
        if (chance(50)) this.#retry();
        else this.#continue();
    }
  }

  #callModel(decision: Extract<Decision, { kind: "call_model" }>): void {
    const { pick, chance } = this.#choices;
    const intent = modelIntent(decision.seq, modelInputOf(decision));
    for (const check of decision.checks) this.#check(check.intent);
    if (chance(2)) {
      this.#begin(intent);
      return this.#continue();
    }
    const isPlain = chance(this.#endsPercent);
    // Turns without a valid call come in rows.
    this.#isConfused = chance(this.#isConfused ? 60 : 10);
    if (!chance(this.#stuckWith === null ? 90 : 10)) this.#stuckWith ??= this.#text();
    else this.#stuckWith = null;
    const isRepeated = this.#stuckWith !== null && this.#lastCalls.length > 0;
    const calls = isPlain
      ? []
      : isRepeated
      ? this.#lastCalls
      : pick([[1], [1], [1, 2]]).map(() => this.#call());
    this.#lastCalls = calls;
    const text = isPlain ? pick(["", "Done", '{"ok": true}', this.#text()]) : "";
    // Turns that are cut come in rows, too.
    this.#isCut = chance(this.#isCut ? 50 : 8);
    this.#end(intent, { state: "done", output: this.#answer(calls, text, this.#isCut) });
  }

  #answer(calls: readonly ModelToolCall[], text: string, isCut = false): JsonObject {
    return {
      text,
      tool_calls: calls.map((made) => ({ ...made })),
      finish_reason: isCut ? "length" : calls.length === 0 ? "stop" : "tool_calls",
      ...(this.#choices.chance(3)
        ? { provider_tool_calls: [{ name: "web_search", input: { query: "news" }, output: "" }] }
        : {}),
    };
  }

  #call(): ModelToolCall {
    const { pick, chance } = this.#choices;
    if (this.#isConfused) {
      return pick([
        call("unknown_tool"),
        call("read_mail", null, "{"),
        call("complete_task", null),
      ]);
    }
    if (chance(this.#endsPercent)) {
      return call("complete_task", { output: pick([{ ok: 1 }, { ok: 2 }, { ok: true }]) });
    }
    if (chance(60)) return call(pick(TOOLS).modelName, { text: chance(20) ? this.#text() : "" });
    return pick([
      call("unknown_tool"),
      call("search_tools", { query: pick(["mail", "pages", "nothing"]) }),
      call("recall_result", { step: pick([2, 4, 9]) }),
      call("create_subtask", { agent: "helper", input: "Help" }),
      call("request_human_review", { question: "Which?" }),
      call("save_intermediate_data", { key: "note", value: 1 }),
    ]);
  }

  #resultOf(planned: RunnableCall): StepResult {
    const { chance } = this.#choices;
    switch (planned.kind) {
      case "settled":
        return planned.result;
      case "recall":
        return recalledResult(
          { name: "read_mail", output: { text: this.#text() } },
          planned.step,
          0,
        );
      case "tool":
        if (this.#stuckWith !== null) {
          return errorResult("TOOL_FAILED", this.#stuckWith, { execution_id: "e" });
        }
        return chance(25)
          ? errorResult("TOOL_FAILED", this.#text(), { execution_id: "e" })
          : textResult(this.#text(), { execution_id: "e" });
      default:
        return textResult("Saved.");
    }
  }

  #subtaskResult(): StepResult {
    const output = { agent: "helper", output: this.#text(), status: "completed" };
    return { state: "done", output };
  }

  #check(intent: StepIntent): void {
    const { chance } = this.#choices;
    if (chance(10)) return this.#end(intent, { state: "failed", output: { text: "no" } });
    const replacement = chance(20) ? { replacement: { ok: true } } : {};
    this.#end(intent, { state: "done", output: { text: "", allowed: true, ...replacement } });
  }

  #answerReview({ call: asked }: Extract<Decision, { kind: "review" }>): void {
    const { chance } = this.#choices;
    const { reviewKind, seq, intent, context } = asked;
    const reasons = typeof context === "object" && context !== null && "reasons" in context
      ? context.reasons as string[]
      : null;
    if (reviewKind === "question" && intent !== null) {
      return this.#end(intent, textResult("This one."));
    }
    this.#reviews.push({
      seq,
      kind: reviewKind,
      approved: chance(60),
      response: null,
      approved_arguments: null,
      reasons,
      comments: null,
      answered_at: "2026-01-01T00:00:00Z",
      is_spent: false,
    });
  }

  /** What `private.ask_again()` does. */
  #retry(): void {
    const isAnswer = ({ kind, state, input }: StepRow) =>
      kind === "model" && state === "done" && asJsonObject(input).summarizes_through === undefined;
    const last = [...this.rows.values()].sort((a, b) => a.seq - b.seq)
      .findLast((row) => row.kind === "user" || isAnswer(row));
    if (last?.kind !== "model") return this.#continue();
    this.rows.set(last.seq, { ...last, input: { ...asJsonObject(last.input), retried: true } });
  }

  /** The next message of the user. */
  #continue(): void {
    const { pick } = this.#choices;
    const seq = Math.max(...this.rows.keys(), 0) + 1;
    const input = pick<JsonValue>(["Go on", { files: ["a.png"], arguments: "all" }]);
    this.rows.set(seq, {
      seq,
      kind: "user",
      state: "done",
      name: null,
      call_id: null,
      input,
      output: {},
    });
  }

  #begin(intent: StepIntent): void {
    this.#write({ ...intent, state: "started", output: null });
  }

  #end(intent: StepIntent, { state, output }: StepResult): void {
    this.#write({ ...intent, state, output });
  }

  #write(row: StepRow): void {
    const { state = "started" } = this.rows.get(row.seq) ?? {};
    if (state === "started") this.rows.set(row.seq, row);
    else this.#isTaken = true;
  }

  #text(): string {
    return "x".repeat(this.#choices.pick(TEXT_CHARS));
  }
}

function modelIntent(seq: number, input: JsonObject | null): StepIntent {
  return { seq, kind: "model", name: "script-1", call_id: null, input };
}
