import type { ChatPlatform, MessageFile } from "./chat_platform.ts";
import type { Json, JsonObject } from "./json.ts";

/** A message of a page, in the form of the AI SDK's `UIMessage`. */
export interface ChatMessage {
  readonly id: string;
  readonly role: "system" | "user" | "assistant";
  readonly parts: readonly { readonly type: string }[];
}

/** What a person answered to a review, as a page holds it. */
export interface GivenAnswer {
  /** The review's id. */
  readonly id: string;
  readonly approved: boolean;
  readonly choice?: Json;
  readonly comments?: string;
  readonly response?: JsonObject;
}

/** Turns a message of the user into the input of an agent. */
export type MessageInput = (message: ChatMessage) => string | JsonObject;

interface AnyPart {
  readonly type: string;
  readonly text?: unknown;
  readonly url?: unknown;
  readonly mediaType?: unknown;
  readonly filename?: unknown;
  readonly state?: unknown;
  readonly output?: unknown;
  readonly approval?: {
    readonly id?: unknown;
    readonly approved?: unknown;
    readonly reason?: unknown;
  };
}

const STORED_FILE = /\/storage\/v1\/object\/(?:authenticated\/)?supaswarm-data\/(.+)$/;

/** The text of a message, with the addresses of its files. Other parts are the page's own. */
export function contentOf({ parts }: ChatMessage): { text: string; files: readonly MessageFile[] } {
  const known = parts as readonly AnyPart[];
  return {
    text: known.flatMap(({ type, text }) => type === "text" && typeof text === "string" ? text : [])
      .join("\n"),
    files: known.filter(({ type }) => type === "file").map(({ url, mediaType, filename }) => ({
      url: typeof url === "string" ? url : "",
      mediaType: typeof mediaType === "string" ? mediaType : "application/octet-stream",
      ...typeof filename === "string" && { filename },
    })),
  };
}

/** The path of a file in Storage; undefined for another address. */
export function storedPath({ url }: MessageFile): string | undefined {
  return STORED_FILE.exec(url)?.[1];
}

/** A message's text, with its files as paths. @throws ChatProblem for an empty message */
export async function inputOf(
  message: ChatMessage,
  platform: ChatPlatform,
): Promise<string | JsonObject> {
  const { text, files } = contentOf(message);
  const paths: string[] = [];
  for (const file of files) paths.push(storedPath(file) ?? await platform.upload(file));
  if (paths.length > 0) return { message: text, files: paths };
  if (text !== "") return text;
  throw platform.refuse({
    code: "BODY_INVALID",
    message: "Cannot send the message: it has no text and no file",
    hint: "Send a part of type text.",
  });
}

/** The answers to reviews that a message of the assistant contains. */
export function answersIn({ parts }: ChatMessage): GivenAnswer[] {
  return (parts as readonly AnyPart[]).flatMap(({ approval, state, output }) => {
    const id = approval?.id;
    if (typeof id !== "string") return [];
    if (state === "output-available" && isAnswer(output)) return [{ ...output, id }];
    if (typeof approval?.approved !== "boolean") return [];
    const { approved, reason } = approval;
    return [{
      id,
      approved,
      ...typeof reason === "string" && reason !== "" && { comments: reason },
    }];
  });
}

/** A page may give a whole answer as the output of the review's tool. */
function isAnswer(value: unknown): value is Omit<GivenAnswer, "id"> {
  return typeof value === "object" && value !== null &&
    typeof (value as { approved?: unknown }).approved === "boolean";
}
