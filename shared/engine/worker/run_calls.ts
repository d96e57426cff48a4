import type { RecallCall, RunnableCall, SaveCall, SkillCall } from "../agent/planned_call.ts";
import { nothingToRecall, recalledResult } from "../agent/recalled_result.ts";
import { errorResult, textResult } from "../agent/step_result.ts";
import type { ErrorCode } from "../../platform/errors/codes.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { nearestNames } from "../../platform/values/nearest_names.ts";
import { byteLength } from "../../platform/values/byte_length.ts";
import { jsonTextOf, MAX_DATA_BYTES, referenceTo } from "./large_values.ts";
import { runTool } from "./run_tool.ts";
import { storeArtifact } from "./store_artifact.ts";
import type { StepRecord } from "./task_store.ts";
import { artifactPath, type TaskRun } from "./task_run.ts";
import { withHint } from "../../platform/errors/with_hint.ts";

/**
 * Runs calls in parallel. Calls without I/O are settled immediately; each of the others is written
 * as soon as it ends, the last one together with the task's next step.
 */
export async function runCalls(calls: readonly RunnableCall[], run: TaskRun): Promise<void> {
  const { transcript } = run;
  const outside = calls.filter((call) => {
    const record = settleWithoutIo(call, run);
    if (record !== null) transcript.end(record);
    return record === null;
  });
  if (outside.length === 0) return;

  await transcript.begin(outside.map(({ intent }) => intent));
  // If the task was stopped during this write, the call was certainly not sent.
  run.control.signal.throwIfAborted();
  await transcript.beginAgain(outside.filter(isRerun).map(({ intent }) => intent.seq));
  transcript.markTried(outside.map(({ intent }) => intent.seq));
  let runningCount = outside.length;
  const outcomes = await Promise.allSettled(outside.map(async (call) => {
    const record = await runOne(call, run).finally(() => runningCount--);
    if (record === null) return;
    transcript.end(record);
    if (runningCount > 0) await transcript.flush();
  }));
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

function isRerun(call: RunnableCall): boolean {
  return call.kind === "tool" && call.isRerun;
}

function settleWithoutIo(call: RunnableCall, { context, transcript }: TaskRun): StepRecord | null {
  if (call.kind === "settled") return { ...call.intent, ...call.result };
  if (call.kind !== "save" || isFile(call) || !fitsIntermediateData(call)) return null;
  const { stored_bytes_left: left } = context.task;
  const neededBytes = transcript.savedBytes + byteLength(JSON.stringify(call.value));
  if (left !== null && neededBytes > left) {
    const message = `Cannot save ${call.key}: the owner's quota stored_bytes has ${
      Math.max(0, left)
    } bytes left`;
    return { ...call.intent, ...errorResult("QUOTA_EXCEEDED", message) };
  }
  return {
    ...call.intent,
    ...textResult(`Saved as ${call.key}.`, { key: call.key }),
    data: { [call.key]: call.value },
  };
}

function fitsIntermediateData({ value }: SaveCall): boolean {
  return byteLength(JSON.stringify(value)) <= MAX_DATA_BYTES;
}

/** A text with a file name as key, such as `report.md`, is also stored as a file. */
function isFile({ key, value }: SaveCall): boolean {
  return typeof value === "string" && /\.[A-Za-z0-9]+$/.test(key);
}

function runOne(call: RunnableCall, run: TaskRun): Promise<StepRecord | null> {
  switch (call.kind) {
    case "settled":
      return Promise.resolve({ ...call.intent, ...call.result });
    case "tool":
      return runTool(call, run);
    case "skill":
      return readSkill(call, run);
    case "recall":
      return recall(call, run);
    case "save":
      return saveObject(call, run);
  }
}

async function readSkill(call: SkillCall, { lease, ports }: TaskRun): Promise<StepRecord> {
  const { intent, skillId, resource } = call;
  const skill = await ports.store.loadSkill(lease.taskId, skillId);
  if (skill === null) {
    return { ...intent, ...errorResult("SKILL_NOT_FOUND", `You have no skill "${skillId}".`) };
  }
  const paths = Object.keys(skill.resources).sort();
  if (resource === null) {
    const note = (path: string) => skill.scripts.includes(path) ? " (to read; it cannot run)" : "";
    const list = paths.map((path) => `\n- ${path}${note(path)}`).join("");
    const resources = list === "" ? "" : `\n\n## Resources you can read with load_skill${list}`;
    const text = `# Skill: ${skill.name}\n\n${skill.instructions}${resources}`;
    return { ...intent, ...textResult(text, { skill_id: skillId }) };
  }
  const text = Object.hasOwn(skill.resources, resource) ? skill.resources[resource] : undefined;
  if (text !== undefined) {
    return { ...intent, ...textResult(text, { skill_id: skillId, resource }) };
  }
  const nearest = nearestNames(resource, paths);
  const known = (nearest.length > 0 ? nearest : paths).join(", ") || "none";
  const message = `The skill ${skillId} has no resource "${resource}". It has: ${known}.`;
  return { ...intent, ...errorResult("SKILL_RESOURCE_NOT_FOUND", message) };
}

async function recall(
  { intent, step, offset }: RecallCall,
  { lease, ports }: TaskRun,
): Promise<StepRecord> {
  const stored = await ports.store.readResult(lease, step);
  const result = stored === null ? nothingToRecall(step) : recalledResult(stored, step, offset);
  return { ...intent, ...result };
}

/** Errors that the model can act on; other failures of Storage are retried. */
const NOT_STORABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "OUTPUT_TOO_LARGE",
  "QUOTA_EXCEEDED",
]);

/** Stores a value as an object in Storage, and in the task's data if it fits. */
async function saveObject(call: SaveCall, run: TaskRun): Promise<StepRecord> {
  const { intent, key, value } = call;
  const text = jsonTextOf(value);
  const path = artifactPath(run.context, filenameOf(call));
  try {
    const { bytes } = referenceTo(path, text);
    await storeArtifact({ path, body: text, contentType: contentTypeOf(call) }, run);
    const result = textResult(`Saved ${bytes} bytes at ${path}.`, {
      key,
      bytes,
      storage_path: path,
    });
    const data = fitsIntermediateData(call) ? { data: { [key]: value } } : {};
    return { ...intent, ...result, ...data, storage_path: path };
  } catch (error) {
    if (!(error instanceof SwarmError) || !NOT_STORABLE.has(error.code)) throw error;
    return { ...intent, ...errorResult(error.code, withHint(error.message, error.hint)) };
  }
}

function filenameOf({ key, value }: SaveCall): string {
  if (/\.[A-Za-z0-9]+$/.test(key)) return key;
  return typeof value === "string" ? `${key}.txt` : `${key}.json`;
}

function contentTypeOf({ value }: SaveCall): string {
  return typeof value === "string" ? "text/plain; charset=utf-8" : "application/json";
}
