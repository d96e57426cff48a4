import { z } from "../../vendor/zod.js";
import { jsonObject } from "../../platform/values/json_schema.ts";
import { toStorableText } from "../../platform/values/storable_json.ts";

/** Longer ids would not fit in a path. */
const MAX_ID_CHARACTERS = 200;

/** In a path, this is the protocol. */
const AG_UI = "ag-ui";
/** The id of a chat, which is a segment of its paths. */
export const chatId = z.string().min(1).max(MAX_ID_CHARACTERS)
  .refine((id) => id !== AG_UI, `${AG_UI} is not the id of a chat`);

const chatMessage = z.object({
  id: z.string().min(1),
  role: z.enum(["system", "user", "assistant"]),
  parts: z.array(z.looseObject({ type: z.string() })),
});

/** The body that the AI SDK's `DefaultChatTransport` sends. Its other fields are the page's own. */
export const chatRequest = z.object({
  id: chatId,
  trigger: z.enum(["submit-message", "regenerate-message"]).default("submit-message"),
  messageId: z.string().nullish(),
  messages: z.array(chatMessage).min(1),
  /** More of the request to create the job. */
  metadata: jsonObject.optional(),
  budget: jsonObject.optional(),
});

/** What a request is about. */
export type ChatRoute =
  | { readonly kind: "answer"; readonly agent: string }
  | { readonly kind: "ag_ui"; readonly agent: string }
  | {
    readonly kind: "chat";
    readonly agent: string;
    readonly chatId: string;
    readonly part: "stream" | "messages" | null;
  };

/** Reads the path after the function's name; null for an unknown one. */
export function parseChatRoute(pathname: string): ChatRoute | null {
  const [, rest = ""] = /\/supaswarm-chat\/(.*?)\/?$/.exec(pathname) ?? [];
  const [agent, chatId, part, ...more] = rest.split("/").map(decoded);
  if (!agent || more.length > 0 || chatId === "") return null;
  if (chatId === undefined) return { kind: "answer", agent };
  if (chatId === AG_UI && part === undefined) return { kind: "ag_ui", agent };
  if (part !== undefined && part !== "stream" && part !== "messages") return null;
  return { kind: "chat", agent, chatId, part: part ?? null };
}

function decoded(segment: string): string {
  try {
    return toStorableText(decodeURIComponent(segment));
  } catch {
    return "";
  }
}
