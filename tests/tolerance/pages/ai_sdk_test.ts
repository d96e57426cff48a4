import assert from "node:assert/strict";
import type { ChatMessage } from "../../../client/chat_message.ts";
import { chatRequest } from "../../../shared/engine/chat/chat_request.ts";
import type { UIDataTypes, UIMessagePart, UITools } from "../../deps.ts";
import { DATA_URL, ELSEWHERE, type Outcome, outcomeOf, STORED } from "./sent_messages.ts";

type Part = UIMessagePart<UIDataTypes, UITools>;
/** Types of parts; those of data and tools have names of their own. */
type PartType<Type extends string = Part["type"]> = Type extends `data-${string}` ? "data-note"
  : Type extends `tool-${string}` ? "tool-find"
  : Type;

const IGNORED: Outcome = { input: "Look" };
const REFUSED: Outcome = { refused: "its file is not in Storage" };
const mediaType = "image/png";

/** Each type of part of a message of the user, beside a text. */
const PARTS: Readonly<Record<PartType, readonly (readonly [Part, Outcome])[]>> = {
  text: [
    [{ type: "text", text: "here" }, { input: "Look\nhere" }],
    [{ type: "text", text: "here", state: "done" }, { input: "Look\nhere" }],
  ],
  file: [
    [{ type: "file", mediaType, url: STORED }, {
      input: { message: "Look", files: ["user/bee.png"] },
    }],
    [{ type: "file", mediaType, url: ELSEWHERE }, REFUSED],
    [{ type: "file", mediaType, url: DATA_URL, filename: "bee.png" }, REFUSED],
  ],
  custom: [[{ type: "custom", kind: "acme.note" }, IGNORED]],
  reasoning: [[{ type: "reasoning", text: "Hm." }, IGNORED]],
  "reasoning-file": [[{ type: "reasoning-file", mediaType, url: DATA_URL }, IGNORED]],
  "source-url": [[{ type: "source-url", sourceId: "1", url: ELSEWHERE }, IGNORED]],
  "source-document": [[
    { type: "source-document", sourceId: "1", mediaType, title: "Bees" },
    IGNORED,
  ]],
  "steering-message": [[{ type: "steering-message", id: "1", parts: [] }, IGNORED]],
  "step-start": [[{ type: "step-start" }, IGNORED]],
  "data-note": [[{ type: "data-note", data: 1 }, IGNORED]],
  "dynamic-tool": [[
    {
      type: "dynamic-tool",
      toolName: "find",
      toolCallId: "c",
      state: "input-available",
      input: {},
    },
    IGNORED,
  ]],
  "tool-find": [[
    { type: "tool-find", toolCallId: "c", state: "input-available", input: {} },
    IGNORED,
  ]],
};

for (const [type, cases] of Object.entries(PARTS)) {
  for (const [part, outcome] of cases) {
    Deno.test(`AI SDK: a part of type ${type} reaches the agent, is refused, or is the page's own: ${JSON.stringify(part)}`, async () => {
      const parts = [{ type: "text", text: "Look" }, part];
      const body = { id: "chat", messages: [{ id: "1", role: "user", parts }] };

      const { messages } = chatRequest.parse(body);

      assert.deepEqual(await outcomeOf(messages[0] as ChatMessage), outcome);
    });
  }
}

Deno.test("AI SDK: a file without an address and a text that is none are no words of the message", async () => {
  const parts = [{ type: "text", text: null }, { type: "file", url: null, mediaType: null }];
  const message = { id: "1", role: "user", parts } as unknown as ChatMessage;

  assert.deepEqual(await outcomeOf(message), REFUSED);
});
