import { Buffer } from "node:buffer";
import { fenceData } from "../../gateway/tool_contracts/fence_data.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { FileFacts } from "../../models/llm/file_tokens.ts";
import { filesOf, type ModelFile, type ModelMessage } from "../../models/llm/model_port.ts";
import type { FileStorage } from "./artifact_storage.ts";

/** A file that a task may read. */
export interface DescribedFile extends FileFacts {
  readonly path: string;
}

/** The dependencies for reading files. */
export interface FilePorts {
  /**
   * Checks that a task of that owner may read the paths, and returns their media types.
   *
   * @throws FILE_NOT_FOUND, FILE_TYPE_UNSUPPORTED, FILES_TOO_LARGE, FILE_INVALID
   */
  readonly describeFiles: (
    paths: readonly string[],
    ownerId: string | null,
  ) => Promise<readonly DescribedFile[]>;
  readonly storage: FileStorage;
}

/** Bytes of all files that users name, as `describeFiles()` allows. */
const MAX_NAMED_BYTES = 10 * 1_048_576;
/** Bytes of a file that a tool returned: the limit of the bucket. */
const MAX_RETURNED_BYTES = 20 * 1_048_576;

/**
 * Reads the files in messages: text files become fenced text, images and PDFs are sent to the model
 * unchanged. Files are read again for each model call, because no worker keeps a task's files.
 * Files of users are looked up first. For files of tools, the transcript has the type.
 *
 * @throws errors of `describeFiles()`, FILES_TOO_LARGE, STORAGE_UNAVAILABLE
 */
export async function attachFiles(
  messages: readonly ModelMessage[],
  ownerId: string | null,
  { describeFiles, storage }: FilePorts,
  signal: AbortSignal,
): Promise<readonly ModelMessage[]> {
  const named = pathsOf(messages, "user");
  const returned = messages.flatMap((message) =>
    message.role === "tool" ? message.files?.flatMap(toDescribed) ?? [] : []
  );
  if (named.length === 0 && returned.length === 0) return messages;
  const read = new Map<string, ReadFile>();
  // Read one after the other, because together they may be as large as the isolate's memory.
  let bytesLeft = MAX_NAMED_BYTES;
  for (const file of named.length === 0 ? [] : await describeFiles(named, ownerId)) {
    const bytes = await storage.get(file.path, bytesLeft, signal);
    bytesLeft -= bytes.length;
    read.set(file.path, toReadFile(file, bytes));
  }
  for (const file of returned) {
    if (!read.has(file.path)) read.set(file.path, await readReturned(file, storage, signal));
  }
  return messages.map((message) =>
    message.role === "assistant" ? message : withContents(message, read)
  );
}

type MessageWithFiles = Exclude<ModelMessage, { role: "assistant" }>;
type ReadFile =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "file"; readonly mediaType: string; readonly base64: string };

function pathsOf(
  messages: readonly ModelMessage[],
  role: MessageWithFiles["role"],
): readonly string[] {
  const paths = messages.flatMap((message) =>
    message.role === role ? filesOf(message).map(({ path }) => path) : []
  );
  return [...new Set(paths)];
}

function toDescribed({ path, facts }: ModelFile): readonly DescribedFile[] {
  return facts === undefined ? [] : [{ path, ...facts }];
}

/** Replaces a tool's file that was deleted with a note, so that the task can continue. */
async function readReturned(
  file: DescribedFile,
  storage: FileStorage,
  signal: AbortSignal,
): Promise<ReadFile> {
  try {
    return toReadFile(file, await storage.get(file.path, MAX_RETURNED_BYTES, signal));
  } catch (error) {
    if (!(error instanceof SwarmError) || error.code !== "FILE_NOT_FOUND") throw error;
    return { kind: "text", text: `(${file.path} has been deleted)` };
  }
}

function toReadFile({ mediaType, path }: DescribedFile, bytes: Uint8Array): ReadFile {
  if (mediaType.startsWith("text/")) {
    return { kind: "text", text: fenceData(new TextDecoder().decode(bytes), path) };
  }
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return { kind: "file", mediaType, base64 };
}

function withContents(
  message: MessageWithFiles,
  read: ReadonlyMap<string, ReadFile>,
): MessageWithFiles {
  const { files = [], ...rest } = message;
  if (files.length === 0) return message;
  const texts: string[] = [];
  const kept = files.flatMap((named): readonly ModelFile[] => {
    const file = read.get(named.path);
    if (file === undefined) return [];
    if (file.kind === "file") {
      return [{ ...named, content: { mediaType: file.mediaType, base64: file.base64 } }];
    }
    texts.push(file.text);
    return [];
  });
  const text = [rest.text, ...texts].join("\n\n");
  return kept.length === 0 ? { ...rest, text } : { ...rest, text, files: kept };
}
