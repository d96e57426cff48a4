import { isJsonObject, readableJson, readJsonText } from "../../format/json_text.ts";
import type { Budget, Json, JsonObject, RunOptions } from "../../../../client/mod.ts";
import type { NewJob } from "../../queries/job_actions.ts";

/** A metadata entry of a job: a name and its value as text. */
export interface Pair {
  name: string;
  value: string;
}

/** The contents of the page for a new job. */
export interface JobDraft {
  /** The ID of the earlier job that the form was filled from, or empty. */
  from: string;
  agent: string;
  mode: string;
  text: string;
  /** The input as an object, which the form edits. */
  form: JsonObject;
  json: string;
  priority: NonNullable<RunOptions["priority"]>;
  /** Local date and time, or empty for now. */
  runAfter: string;
  metadata: Pair[];
  /** In US dollars. */
  maxCostUsd: string;
  maxSteps: string;
  maxMinutes: string;
}

/** A request made from a draft, or the change that the draft needs first. */
export type DraftReading =
  | { readonly kind: "job"; readonly job: NewJob }
  | { readonly kind: "problem"; readonly message: string };

export function emptyDraft(): JobDraft {
  return {
    from: "",
    agent: "",
    mode: "text",
    text: "",
    form: {},
    json: "{}",
    priority: "normal",
    runAfter: "",
    metadata: [],
    maxCostUsd: "",
    maxSteps: "",
    maxMinutes: "",
  };
}

/** Puts an earlier job's input into the draft, in the format that can show all of it. */
export function fillInput(draft: JobDraft, input: Json): void {
  draft.json = readableJson(input);
  if (typeof input === "string") {
    draft.mode = "text";
    draft.text = input;
    return;
  }
  if (!isJsonObject(input)) {
    draft.mode = "json";
    return;
  }
  draft.mode = "form";
  // The form replaces the values that it changes, so that the earlier job's data is not modified.
  draft.form = input;
}

/** Puts an earlier job's metadata into the draft, as far as the values are text. */
export function fillMetadata(draft: JobDraft, metadata: Json): void {
  const entries = isJsonObject(metadata) ? Object.entries(metadata) : [];
  draft.metadata = entries.flatMap(([name, value]) =>
    typeof value === "string" ? [{ name, value }] : []
  );
}

/** The request that the draft describes. */
export function readDraft(draft: JobDraft, idempotencyKey: string): DraftReading {
  if (draft.agent === "") return problem("Select an agent");
  const input = readInput(draft);
  if (input.kind === "problem") return input;
  const budget = readBudget(draft);
  if (budget.kind === "problem") return budget;
  const metadata = Object.fromEntries(
    draft.metadata.filter(({ name }) => name.trim() !== "")
      .map(({ name, value }) => [name.trim(), value]),
  );
  return {
    kind: "job",
    job: {
      agent: draft.agent,
      input: input.value,
      options: {
        idempotencyKey,
        priority: draft.priority,
        watch: true,
        ...(draft.runAfter === "" ? {} : { runAfter: new Date(draft.runAfter) }),
        ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
        ...(Object.keys(budget.caps).length === 0 ? {} : { budget: budget.caps }),
      },
    },
  };
}

type InputReading =
  | { readonly kind: "value"; readonly value: string | JsonObject }
  | { readonly kind: "problem"; readonly message: string };

function readInput(draft: JobDraft): InputReading {
  if (draft.mode === "text") {
    const text = draft.text.trim();
    return text === ""
      ? problem("Describe what the agent should do")
      : { kind: "value", value: text };
  }
  if (draft.mode === "form") {
    return Object.keys(draft.form).length === 0
      ? problem("Add at least one field to the input")
      : { kind: "value", value: draft.form };
  }
  const reading = readJsonText(draft.json);
  if (reading.kind === "problem") return reading;
  const { value } = reading;
  const hasText = typeof value === "string" && value.trim() !== "";
  if (hasText || isJsonObject(value)) return { kind: "value", value };
  return problem("The input must be an object or non-empty text");
}

const CAPS = [
  { field: "maxCostUsd", cap: "maxCostMicroUsd", factor: 1_000_000, label: "cost" },
  { field: "maxSteps", cap: "maxSteps", factor: 1, label: "number of steps" },
  { field: "maxMinutes", cap: "maxWallSeconds", factor: 60, label: "number of minutes" },
] as const;

type BudgetReading =
  | { readonly kind: "caps"; readonly caps: Budget }
  | { readonly kind: "problem"; readonly message: string };

function readBudget(draft: JobDraft): BudgetReading {
  const caps: { -readonly [Cap in keyof Budget]: number } = {};
  for (const { field, cap, factor, label } of CAPS) {
    const text = String(draft[field]).trim();
    if (text === "") continue;
    const amount = Math.round(Number(text) * factor);
    if (!Number.isFinite(amount) || amount < 1) {
      return problem(`The ${label} must be greater than 0`);
    }
    caps[cap] = amount;
  }
  return { kind: "caps", caps };
}

function problem(message: string) {
  return { kind: "problem", message } as const;
}
