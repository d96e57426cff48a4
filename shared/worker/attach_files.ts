import { Buffer } from "node:buffer";
import { fenceData } from "../agent/fence_data.ts";
import type { ModelMessage } from "../llm/model_port.ts";
import type { FileStorage } from "./artifact_storage.ts";

/** A file that a task may read. */
export interface DescribedFile {
  readonly path: string;
  readonly mediaType: string;
}

/** The dependencies for reading files. */
export interface FilePorts {
  /**
   * Checks which of the paths a task of that owner may read, and their media types.
   *
   * @throws FILE_NOT_FOUND, FILE_TYPE_UNSUPPORTED, FILES_TOO_LARGE, FILE_INVALID
   */
  readonly describeFiles: (
    paths: readonly string[],
    ownerId: string | null,
  ) => Promise<readonly DescribedFile[]>;
  readonly storage: FileStorage;
}

/**
 * Reads the files in messages: text files become fenced text, images and PDFs are sent to the model
 * unchanged. Read again for each model call, because no worker keeps a task's files.
 *
 * @throws errors of `describeFiles()`, STORAGE_UNAVAILABLE
 */
export async function attachFiles(
  messages: readonly ModelMessage[],
  ownerId: string | null,
  { describeFiles, storage }: FilePorts,
  signal: AbortSignal,
): Promise<readonly ModelMessage[]> {
  const paths = new Set(
    messages.flatMap((message) =>
      message.role === "user" ? (message.files ?? []).map(({ path }) => path) : []
    ),
  );
  if (paths.size === 0) return messages;
  const described = await describeFiles([...paths], ownerId);
  const read = new Map<string, ReadFile>();
  // One after the other: together they may be as large as an isolate's memory allows.
  for (const file of described) {
    read.set(file.path, toReadFile(file, await storage.get(file.path, signal)));
  }
  return messages.map((message) => message.role === "user" ? withContents(message, read) : message);
}

type UserMessage = Extract<ModelMessage, { role: "user" }>;
type ReadFile =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "file"; readonly mediaType: string; readonly base64: string };

function toReadFile({ mediaType, path }: DescribedFile, bytes: Uint8Array): ReadFile {
  if (mediaType.startsWith("text/")) {
    return { kind: "text", text: fenceData(new TextDecoder().decode(bytes), path) };
  }
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return { kind: "file", mediaType, base64 };
}

function withContents(message: UserMessage, read: ReadonlyMap<string, ReadFile>): UserMessage {
  const { files = [], ...rest } = message;
  const texts: string[] = [];
  const kept = files.flatMap(({ path }) => {
    const file = read.get(path);
    if (file === undefined) return [];
    if (file.kind === "file") {
      return [{ path, content: { mediaType: file.mediaType, base64: file.base64 } }];
    }
    texts.push(file.text);
    return [];
  });
  const text = [rest.text, ...texts].join("\n\n");
  return kept.length === 0 ? { ...rest, text } : { ...rest, text, files: kept };
}
