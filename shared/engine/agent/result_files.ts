import type { JsonValue } from "../../platform/values/json.ts";
import { z } from "../../vendor/zod.js";
import type { CallStep, Step } from "./task_context.ts";

/** A tool's file, as the call's step refers to it. Its bytes are in Storage. */
const resultFile = z.object({
  /** Path in the bucket `supaswarm-data`. */
  path: z.string(),
  /** Detected from its first bytes, not from the tool's name for it. */
  media_type: z.string(),
  bytes: z.int().nonnegative(),
});

/** See {@linkcode resultFile}. */
export type ResultFile = z.infer<typeof resultFile>;

const withFiles = z.object({ files: z.array(resultFile) });

/** Media types that models can view. For other files, they only get the name. */
const SHOWN_TYPES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "application/pdf",
]);

/** Whether models can view files of this type. */
export function isShownType(mediaType: string): boolean {
  return SHOWN_TYPES.has(mediaType);
}

/** Returns the files of a stored result. */
export function resultFilesOf(output: JsonValue | null): readonly ResultFile[] {
  const parsed = withFiles.safeParse(output);
  return parsed.success ? parsed.data.files : [];
}

/** Limit of the tools' files in one prompt. Providers refuse requests above 20 to 32 MB. */
const MAX_SHOWN_BYTES = 8 * 1024 * 1024;
const MAX_SHOWN_FILES = 20;

/**
 * Returns the files to show to a model, by the step of their call: those of results after
 * `afterSeq`, the newest first, up to the limit of one prompt. Other files are only named in the
 * text of their results. So are the files of errors, which some APIs do not accept.
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
