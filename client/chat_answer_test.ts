import assert from "node:assert/strict";
import { requestAnswer } from "./chat_answer.ts";
import type { ChatMessage } from "./chat_message.ts";
import type { ChatPlatform, ChatState } from "./chat_platform.ts";
import type { JsonObject } from "./json.ts";

const CHAT: ChatState = {
  task_id: "job",
  agent: "writer",
  status: "needs_human_review",
  has_ended: false,
  ended_seconds: null,
  is_ending: false,
  user_steps: [],
  step: 0,
  cursor: null,
  open_reviews: [{ task_id: "job", seq: 3, options: null }],
};

Deno.test("an approval that is sent again after its answer was lost approves no later question", async () => {
  const approved: unknown[] = [];
  let openSeq = 3;
  const lost = new Error("fetch failed");
  const answerReview = ({ p_seq: seq }: JsonObject): Promise<string> => {
    if ((seq ?? openSeq) !== openSeq) {
      return Promise.reject(
        Object.assign(new Error("answered"), { code: "REVIEW_ALREADY_ANSWERED" }),
      );
    }
    approved.push(openSeq);
    // The agent goes on and asks again before the page sends its answer again.
    openSeq = 5;
    return approved.length === 1 ? Promise.reject(lost) : Promise.resolve("pending");
  };
  const platform: ChatPlatform = {
    create: () => Promise.reject(new Error("no job is created")),
    call: <Data>(name: string, args: JsonObject) =>
      (name === "find_chat" ? Promise.resolve(CHAT) : answerReview(args)) as Promise<Data>,
    follow: () => {
      throw new Error("nothing is followed");
    },
    upload: () => Promise.reject(new Error("nothing is uploaded")),
    pause: () => Promise.resolve(),
    isTransient: (error) => error === lost,
    refuse: ({ message }) => new Error(message),
  };
  const message = {
    id: "m",
    role: "assistant",
    parts: [{ type: "dynamic-tool", approval: { id: "job:3", approved: true } }],
  } as unknown as ChatMessage;

  await requestAnswer(
    platform,
    { trigger: "submit-message", chatId: "chat", messages: [message] },
    { agent: "writer" },
  );

  assert.deepEqual(approved, [3]);
});

for (const response of ["x".repeat(1_000_000), ["list"], 7]) {
  Deno.test(`a review's response that is ${typeof response} instead of an object is refused before it is sent`, async () => {
    const called: string[] = [];
    const platform = {
      call: (name: string) => {
        called.push(name);
        return Promise.resolve(CHAT);
      },
      isTransient: () => false,
      refuse: ({ message }: { readonly message: string }) => new Error(message),
    } as unknown as ChatPlatform;
    const message = {
      id: "m",
      role: "assistant",
      parts: [{
        type: "dynamic-tool",
        state: "output-available",
        approval: { id: "job:3" },
        output: { approved: true, response },
      }],
    } as unknown as ChatMessage;

    await assert.rejects(
      requestAnswer(
        platform,
        { trigger: "submit-message", chatId: "chat", messages: [message] },
        { agent: "writer" },
      ),
      { message: "Cannot answer the review of task job: its response is not an object" },
    );
    assert.deepEqual(called, ["find_chat"]);
  });
}
