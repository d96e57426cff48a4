import { createHash } from "node:crypto";
import { join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { decide } from "../../shared/engine/agent/decide.ts";
import { TOOL_SEARCH_BYTES } from "../../shared/engine/agent/offer_tools.ts";
import { taskContext } from "../../shared/engine/agent/task_context.ts";
import { TOOLSET } from "../simulation/simulated_gateway.ts";

/** Transcripts that were recorded once, and what was decided then. */
export interface StoredDecisions {
  /** Why decisions were allowed to change, the last reason last. */
  readonly reasons: readonly string[];
  readonly transcripts: readonly {
    /** What a worker read when it claimed the task. */
    readonly context: unknown;
    /** The kind of the decision and its digest. */
    readonly decision: string;
  }[];
}

const PATH = join(PROJECT_ROOT, "tests/fixtures/decisions.json");

/** Reads them; none before the first recording. */
export async function readDecisions(): Promise<StoredDecisions> {
  const text = await Deno.readTextFile(PATH).catch(() => '{"reasons": [], "transcripts": []}');
  return JSON.parse(text);
}

/** Writes them, one transcript a line. */
export async function writeDecisions({ reasons, transcripts }: StoredDecisions): Promise<void> {
  const lines = transcripts.map((transcript) => JSON.stringify(transcript)).join(",\n");
  await Deno.writeTextFile(
    PATH,
    `{"reasons": ${JSON.stringify(reasons)},\n"transcripts": [\n${lines}\n]}\n`,
  );
}

/** What the current sources decide for a task that a worker has just claimed. */
export function decisionFor(context: unknown): { readonly summary: string; readonly text: string } {
  const parsed = taskContext.parse(context);
  const decision = decide({
    context: parsed,
    steps: parsed.steps,
    toolset: TOOLSET,
    toolSearchBytes: TOOL_SEARCH_BYTES,
    fileFacts: new Map(),
    untried: new Set(),
    asked: new Map(),
    spawned: new Set(),
  });
  const text = JSON.stringify(decision, null, 2);
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { summary: `${decision.kind} ${digest}`, text };
}
