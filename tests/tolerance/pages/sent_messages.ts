import { inputOf } from "../../../client/chat_message.ts";
import type { ChatMessage } from "../../../client/chat_message.ts";
import type { ChatPlatform } from "../../../client/chat_platform.ts";
import type { Json } from "../../../client/json.ts";

/** What a part of a message becomes. */
export type Outcome =
  | { readonly input: Json }
  /** The message is refused; the words are the reason. */
  | { readonly refused: string };

/** Stored addresses of a file, and one of another place. */
export const STORED = "https://project.example/storage/v1/object/supaswarm-data/user/bee.png";
export const ELSEWHERE = "https://pictures.example/bee.png";
export const DATA_URL = "data:image/png;base64,AAAA";

/** The input that a message becomes at the endpoint, where a file has to be in Storage. */
export async function outcomeOf(message: ChatMessage): Promise<Outcome> {
  const platform: Pick<ChatPlatform, "upload" | "refuse"> = {
    upload: () => Promise.reject(new Error("its file is not in Storage")),
    refuse: ({ message }) => new Error(message),
  };
  try {
    return { input: await inputOf(message, platform as ChatPlatform) as Json };
  } catch (error) {
    return { refused: (error as Error).message };
  }
}
