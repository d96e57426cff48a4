import type { ChatPart } from "./chat_part.ts";

type Part = Record<string, unknown> & { type: string };

/** The parts of a message as the AI SDK makes them of a stream. */
export class MessageParts {
  readonly parts: Part[] = [];
  readonly #open = new Map<string, Part>();

  /** Takes a part of the stream. */
  add(part: ChatPart): void {
    switch (part.type) {
      case "start-step":
        this.parts.push({ type: "step-start" });
        break;
      case "text-start":
        this.#begin(part.id, { type: "text", text: "", state: "streaming" });
        break;
      case "reasoning-start":
        this.#begin(part.id, { type: "reasoning", id: part.id, text: "", state: "streaming" });
        break;
      case "text-delta":
      case "reasoning-delta": {
        const open = this.#open.get(part.id);
        if (open !== undefined) open.text = `${open.text}${part.delta}`;
        break;
      }
      case "text-end":
      case "reasoning-end":
        Object.assign(this.#open.get(part.id) ?? {}, {
          state: "done",
          ..."providerMetadata" in part && { providerMetadata: part.providerMetadata },
        });
        break;
      case "tool-input-available": {
        const { toolCallId, toolName, input } = part;
        this.#begin(toolCallId, {
          type: "dynamic-tool",
          toolName,
          toolCallId,
          state: "input-available",
          input,
        });
        break;
      }
      case "tool-approval-request": {
        const { toolCallId, approvalId: id, approvalDescriptor: descriptor } = part;
        this.#change(toolCallId, { state: "approval-requested", approval: { id, descriptor } });
        break;
      }
      case "tool-output-available":
        this.#change(part.toolCallId, { state: "output-available", output: part.output });
        break;
      case "tool-output-error":
        this.#change(part.toolCallId, { state: "output-error", errorText: part.errorText });
        break;
      case "tool-output-denied":
        this.#change(part.toolCallId, { state: "output-denied" });
        break;
      case "file":
      case "source-url":
        this.parts.push({ ...part });
        break;
      case "data-subtask":
      case "data-output": {
        const known = this.parts.find(({ type, id }) => type === part.type && id === part.id);
        if (known === undefined) this.parts.push({ ...part });
        else known.data = part.data;
        break;
      }
    }
  }

  #begin(id: string, part: Part): void {
    this.#open.set(id, part);
    this.parts.push(part);
  }

  #change(id: string, changes: object): void {
    Object.assign(this.#open.get(id) ?? {}, changes);
  }
}
