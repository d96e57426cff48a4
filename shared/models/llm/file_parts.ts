import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { ModelMessage } from "./model_port.ts";

/** A file that adapters can send. */
export interface FilePart {
  readonly name: string;
  readonly mediaType: string;
  readonly base64: string;
}

/**
 * Returns the files of a message for an API that accepts these media types.
 *
 * @throws FILE_TYPE_UNSUPPORTED before anything is sent.
 */
export function filePartsOf(
  message: Extract<ModelMessage, { role: "user" }>,
  taken: readonly string[],
): readonly FilePart[] {
  return (message.files ?? []).map(({ path, content }) => {
    if (content === null) throw notRead(path);
    if (!taken.includes(content.mediaType)) throw notTaken(path, content.mediaType, taken);
    return { name: nameOf(path), ...content };
  });
}

/**
 * The files of a tool's result that an API accepts, and the text with a note on each other file.
 */
export interface ResultParts {
  readonly text: string;
  readonly files: readonly FilePart[];
}

/**
 * Converts a tool's result for an API that accepts those media types. Other files are only named,
 * because agents do not choose what their tools return.
 */
export function resultPartsOf(
  { text, files = [] }: Pick<Extract<ModelMessage, { role: "tool" }>, "text" | "files">,
  taken: readonly string[],
): ResultParts {
  const parts: FilePart[] = [];
  const notes: string[] = [];
  for (const { path, content } of files) {
    if (content === null) throw notRead(path);
    if (taken.includes(content.mediaType)) parts.push({ name: nameOf(path), ...content });
    else notes.push(`(${path} is not shown: this model does not accept ${content.mediaType})`);
  }
  return { text: [text, ...notes].join("\n"), files: parts };
}

/** The file as a `data:` URL. */
export function toDataUrl({ mediaType, base64 }: FilePart): string {
  return `data:${mediaType};base64,${base64}`;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function notRead(path: string): SwarmError {
  return new SwarmError(
    "INTERNAL",
    `Cannot send the file '${path}': its content has not been read`,
  );
}

function notTaken(path: string, mediaType: string, taken: readonly string[]): SwarmError {
  return new SwarmError(
    "FILE_TYPE_UNSUPPORTED",
    `Cannot send the file '${path}': the agent's model does not accept ${mediaType}`,
    { hint: `Send ${taken.join(", ")} or a text file, or use an agent of another provider.` },
  );
}
