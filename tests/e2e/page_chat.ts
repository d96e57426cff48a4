import { waitFor } from "../../scripts/wait_for.ts";
import { type ChatTransport, loadAiSdk, type UIMessage } from "../deps.ts";

const { AbstractChat, lastAssistantMessageIsCompleteWithApprovalResponses } = await loadAiSdk();

/** How a page opens its chat. */
export interface PageChatOptions {
  readonly id: string;
  readonly transport: ChatTransport<UIMessage>;
  readonly messages?: UIMessage[];
  readonly onError?: (error: Error) => void;
  readonly onFinish?: (end: { readonly finishReason?: string | undefined }) => void;
}

/** The AI SDK's chat as `useChat` has it, without a page. */
export class PageChat extends AbstractChat<UIMessage> {
  /** The data parts that are shown and not kept. */
  readonly shown: unknown[];

  constructor({ messages = [], ...options }: PageChatOptions) {
    const shown: unknown[] = [];
    super({
      ...options,
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      onData: (part) => void shown.push(part),
      state: {
        status: "ready",
        error: undefined,
        messages: [...messages],
        pushMessage(message) {
          this.messages = [...this.messages, message];
        },
        popMessage() {
          this.messages = this.messages.slice(0, -1);
        },
        replaceMessage(index, message) {
          this.messages = this.messages.with(index, structuredClone(message));
        },
        snapshot: (thing) => structuredClone(thing),
      },
    });
    this.shown = shown;
  }

  /** The text of the newest message. */
  get text(): string {
    return textOf(this.lastMessage);
  }

  /** Waits for a text of the newest message. @throws Error with the state of the chat */
  async untilText(isWanted: (text: string) => boolean): Promise<void> {
    const state = () => JSON.stringify([this.status, this.error?.message, this.lastMessage]);
    await waitFor(() => {
      if (this.status === "error") throw new Error(`The chat has failed: ${state()}`);
      return isWanted(this.text);
    }, { what: () => `a text of the chat ${state()}` });
  }
}

/** The text of a message. */
export function textOf(message: UIMessage | undefined): string {
  return (message?.parts ?? []).map((part) => part.type === "text" ? part.text : "").join("|")
    .replaceAll(/^\|+|\|+$/g, "");
}
