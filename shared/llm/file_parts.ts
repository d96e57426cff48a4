import { SwarmError } from "../errors/swarm_error.ts";
import type { ModelMessage } from "./model_port.ts";

/** A file that adapters can send. */
export interface FilePart {
  readonly name: string;
  readonly mediaType: string;
  readonly base64: string;
}

/**
 * The files of a message, for an API that accepts these media types.
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
