import type { JsonValue } from "../json.ts";
import { z } from "../vendor/zod.js";
import type { CallStep, Step } from "./task_context.ts";

/** A file that a tool returned, as the call's step refers to it; its bytes are in Storage. */
export const resultFile = z.object({
  /** In the bucket `supaswarm-data`. */
  path: z.string(),
  /** By its first bytes, not by what the tool called it. */
  media_type: z.string(),
  bytes: z.int().nonnegative(),
});

/** See {@linkcode resultFile}. */
export type ResultFile = z.infer<typeof resultFile>;

const withFiles = z.object({ files: z.array(resultFile) });

/** What models are shown as it is; of other files they read the name. */
const SHOWN_TYPES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "application/pdf",
]);

/** Whether models are shown a file of this type, and do not only read its name. */
export function isShownType(mediaType: string): boolean {
  return SHOWN_TYPES.has(mediaType);
}

/** The files that a stored result refers to. */
export function resultFilesOf(output: JsonValue | null): readonly ResultFile[] {
  const parsed = withFiles.safeParse(output);
  return parsed.success ? parsed.data.files : [];
}

/** Of the tools' files in one prompt: providers refuse requests above 20 to 32 MB. */
const MAX_SHOWN_BYTES = 8 * 1024 * 1024;
const MAX_SHOWN_FILES = 20;

/**
 * The files that a model is shown, by the step of their call: those of results after `afterSeq`, the
 * newest first as far as one prompt holds them. Others are only named, in the text of their results;
 * so are the files of errors, which not every API takes.
 */
export function shownFiles(
  steps: readonly Step[],
  afterSeq: number,
): ReadonlyMap<number, readonly ResultFile[]> {
  const shown = new Map<number, readonly ResultFile[]>();
  let [bytesLeft, filesLeft] = [MAX_SHOWN_BYTES, MAX_SHOWN_FILES];
  for (const step of steps.toReversed()) {
    if (step.seq <= afterSeq || !isDoneCall(step)) continue;
    const files = resultFilesOf(step.output).filter(({ media_type: type }) => isShownType(type));
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    if (files.length === 0 || bytes > bytesLeft || files.length > filesLeft) continue;
    [bytesLeft, filesLeft] = [bytesLeft - bytes, filesLeft - files.length];
    shown.set(step.seq, files);
  }
  return shown;
}

function isDoneCall(step: Step): step is CallStep {
  return (step.kind === "tool" || step.kind === "system") && step.state === "done";
}
