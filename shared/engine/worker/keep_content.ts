import type { ToolCall } from "../agent/planned_call.ts";
import { isShownType, type ResultFile } from "../agent/result_files.ts";
import { byteLength } from "../../platform/values/byte_length.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { AnsweredCall } from "../../gateway/tool_contracts/tool_call.ts";
import { readLinkedResources } from "./read_linked_resources.ts";
import { resultPiece, type ReturnedFile } from "./result_content.ts";
import { storeArtifact } from "./store_artifact.ts";
import { artifactPath, type TaskRun } from "./task_run.ts";

/** Limit of one file. It is also the providers' limit of an image. */
const MAX_FILE_BYTES = 5 * 1024 * 1024;
/** Limit of one result. */
const MAX_FILES = 20;

/** A tool's result for its step: text that names each file, and the files' paths. */
export interface KeptContent {
  readonly text: string;
  readonly files: readonly ResultFile[];
}

/**
 * Stores the images, sounds and resources of a tool's result as files of the task. Each path is
 * derived from the call, so that a call that is repeated after a worker's death replaces its files.
 * A file that cannot be stored is only named in the text, because the tool has already run and its
 * result must not be lost.
 */
export async function keepContent(
  call: ToolCall,
  { text: answerText, content, isError }: Pick<AnsweredCall, "text" | "content" | "isError">,
  run: TaskRun,
): Promise<KeptContent> {
  if (content.every(({ type }) => type === "text")) return { text: answerText, files: [] };
  const blocks = isError ? content : await readLinkedResources(content, call, run);
  const texts: string[] = [];
  const files: ResultFile[] = [];
  // Store one after the other, because together they may be large.
  for (const block of blocks) {
    const piece = resultPiece(block);
    if (piece.kind === "text") {
      texts.push(piece.text);
      continue;
    }
    const kept = await keepFile(piece.file, files.length + 1, call, run);
    texts.push([...piece.text === null ? [] : [piece.text], kept.note].join("\n"));
    if (kept.file !== null) files.push(kept.file);
  }
  return { text: texts.join("\n"), files };
}

interface KeptFile {
  /** Null when it could not be stored. */
  readonly file: ResultFile | null;
  /** The note about its path for the model. */
  readonly note: string;
}

async function keepFile(
  { name, body, mediaType, extension }: ReturnedFile,
  number: number,
  { intent }: ToolCall,
  run: TaskRun,
): Promise<KeptFile> {
  const bytes = typeof body === "string" ? byteLength(body) : body.byteLength;
  const what = [name ?? "file", mediaType, `${bytes} bytes`].join(", ");
  if (bytes > MAX_FILE_BYTES) return notKept(what, `it is larger than ${MAX_FILE_BYTES} bytes`);
  if (number > MAX_FILES) return notKept(what, `at most ${MAX_FILES} files of a result are stored`);
  const path = artifactPath(run.context, `_step-${intent.seq}-${number}.${extension}`);
  const contentType = typeof body === "string" ? `${mediaType}; charset=utf-8` : mediaType;
  try {
    await storeArtifact({ path, body, contentType }, run);
  } catch (error) {
    if (!(error instanceof SwarmError)) throw error;
    return notKept(what, error.code);
  }
  const isReadable = typeof body === "string" || isShownType(mediaType);
  const hidden = isReadable ? "" : "; you cannot read it";
  return {
    file: { path, media_type: mediaType, bytes },
    note: `(${what}: stored at ${path}${hidden})`,
  };
}

function notKept(what: string, reason: string): KeptFile {
  return { file: null, note: `(${what}: not stored: ${reason})` };
}
