import type { Decision } from "../agent/decide.ts";
import { textResult } from "../agent/step_result.ts";
import type { JsonValue } from "../../platform/values/json.ts";
import { byteLength } from "../../platform/values/byte_length.ts";
import {
  jsonTextOf,
  MAX_INLINE_BYTES,
  referenceTo,
  type StorageReference,
} from "./large_values.ts";
import { storeArtifact } from "./store_artifact.ts";
import type { TaskEnd } from "./task_end.ts";
import { artifactPath, type TaskRun } from "./task_run.ts";

type Finish = Extract<Decision, { kind: "finish" }>;

/**
 * Ends the task with its output. A large output is moved to Storage and replaced by a reference
 * with its head.
 *
 * @throws OUTPUT_TOO_LARGE, QUOTA_EXCEEDED, STORAGE_UNAVAILABLE
 */
export async function finishTask(
  { output, completion }: Finish,
  run: TaskRun,
): Promise<TaskEnd> {
  const { transcript, control } = run;
  const reference = await storeLargeOutput(output, run);
  if (completion !== null) {
    transcript.end({ ...completion, ...textResult("The task is complete.") });
  }
  if (reference !== null) transcript.attachPath(reference.storage_path);
  control.settle();
  return await transcript.finish(reference ?? output, reference);
}

async function storeLargeOutput(
  output: JsonValue,
  run: TaskRun,
): Promise<StorageReference | null> {
  const text = jsonTextOf(output);
  if (byteLength(text) <= MAX_INLINE_BYTES) return null;
  const isText = typeof output === "string";
  const path = artifactPath(run.context, isText ? "_output.txt" : "_output.json");
  const reference = referenceTo(path, text);
  const contentType = isText ? "text/plain; charset=utf-8" : "application/json";
  await storeArtifact({ path, body: text, contentType }, run);
  return reference;
}
