import assert from "node:assert/strict";
import { agUiCapabilities } from "../../../shared/engine/chat/ag_ui_events.ts";
import { agUiRequest, askedOf, unreadOf } from "../../../shared/engine/chat/ag_ui_request.ts";
import type { JsonValue } from "../../../shared/platform/values/json.ts";
import type { AgUiMessage, ContentPart, RunAgentInput } from "../../deps.ts";
import { memberVariantsOf } from "../variants.ts";
import { DATA_URL, ELSEWHERE, type Outcome, outcomeOf, STORED } from "./sent_messages.ts";

/** A part before version 1.0. */
interface BinaryPart {
  readonly type: "binary";
  readonly mimeType: string;
  readonly url?: string;
  readonly data?: string;
  readonly id?: string;
}

interface PartCase {
  readonly part: ContentPart | BinaryPart;
  readonly outcome: Outcome;
}

const FILE: Outcome = { input: { message: "Look", files: ["user/bee.png"] } };
const REFUSED: Outcome = { refused: "its file is not in Storage" };

function media(type: Exclude<ContentPart["type"], "text">): PartCase[] {
  const mimeType = "image/png";
  return [
    { part: { type, source: { type: "url", value: STORED, mimeType } }, outcome: FILE },
    { part: { type, source: { type: "url", value: ELSEWHERE } }, outcome: REFUSED },
    { part: { type, source: { type: "data", value: "AAAA", mimeType } }, outcome: REFUSED },
    { part: { type, source: { type: "file", value: "file-1" } }, outcome: REFUSED },
  ];
}

/** Each type of part, beside a text. */
const PARTS: Readonly<Record<ContentPart["type"] | "binary", readonly PartCase[]>> = {
  text: [{ part: { type: "text", text: "here" }, outcome: { input: "Look\nhere" } }],
  image: media("image"),
  audio: media("audio"),
  video: media("video"),
  document: media("document"),
  binary: [
    { part: { type: "binary", mimeType: "image/png", url: STORED }, outcome: FILE },
    { part: { type: "binary", mimeType: "image/png", url: DATA_URL }, outcome: REFUSED },
    { part: { type: "binary", mimeType: "image/png", data: "AAAA" }, outcome: REFUSED },
    { part: { type: "binary", mimeType: "image/png", id: "file-1" }, outcome: REFUSED },
  ],
};

function run(changes: Partial<RunAgentInput>): RunAgentInput {
  return { threadId: "t", runId: "r", messages: [], tools: [], context: [], ...changes };
}

/** The newest message that a run asks to answer. */
function asked(body: unknown) {
  const request = askedOf(agUiRequest.parse(body), null);
  assert.ok(request !== null && request !== "read");
  const message = request.messages.at(-1);
  assert.ok(message);
  return message;
}

for (const [type, cases] of Object.entries(PARTS)) {
  for (const { part, outcome } of cases) {
    Deno.test(`AG-UI: a part of type ${type} reaches the agent or is refused: ${JSON.stringify(part)}`, async () => {
      const content = [{ type: "text", text: "Look" }, part] as ContentPart[];
      const body = run({ messages: [{ id: "1", role: "user", content }] });

      assert.deepEqual(await outcomeOf(asked(body)), outcome);
      assert.deepEqual(unreadOf(agUiRequest.parse(body)), []);
    });
  }
}

/** A message of each role before one of the user, and what is said of it. */
const ROLES: Readonly<Record<AgUiMessage["role"], readonly [AgUiMessage, readonly string[]]>> = {
  user: [{ id: "0", role: "user", content: "Before" }, []],
  assistant: [{ id: "0", role: "assistant" }, []],
  tool: [{ id: "0", role: "tool", content: "done", toolCallId: "c" }, []],
  reasoning: [{ id: "0", role: "reasoning", content: "Hm." }, []],
  activity: [{ id: "0", role: "activity", activityType: "plan", content: { steps: [1] } }, []],
  system: [{ id: "0", role: "system", content: "Be brief." }, ["messages of the role system"]],
  developer: [
    { id: "0", role: "developer", content: "Be brief." },
    ["messages of the role developer"],
  ],
};

for (const [role, [message, said]] of Object.entries(ROLES)) {
  Deno.test(`AG-UI: a message of the role ${role} does not keep a run from being answered`, async () => {
    const body = run({ messages: [message, { id: "1", role: "user", content: "Hello" }] });

    assert.deepEqual(await outcomeOf(asked(body)), { input: "Hello" });
    assert.deepEqual(unreadOf(agUiRequest.parse(body)), said);
  });
}

Deno.test("AG-UI: what a run has and the agent does not see is named, also by the capabilities", () => {
  const part = { type: "hologram", data: "x" } as unknown as ContentPart;
  const body = run({
    context: [{ description: "page", value: "/settings" }],
    tools: [{ name: "navigate", description: "", parameters: {} }],
    messages: [
      { id: "0", role: "system", content: "Be brief." },
      { id: "1", role: "user", content: [part, { type: "text", text: "Hello" }] },
    ],
  });

  const unread = unreadOf(agUiRequest.parse(body));

  assert.deepEqual(unread, [
    "context",
    "tools",
    "messages of the role system",
    "parts of the type hologram",
  ]);
  const { custom } = agUiCapabilities("writer") as { custom: { unread: string[] } };
  for (const what of unread.slice(0, 3)) assert.ok(custom.unread.includes(what), what);
});

const WHOLE: RunAgentInput = run({
  parentRunId: "r0",
  state: { count: 1 },
  forwardedProps: { locale: "en" },
  context: [{ description: "page", value: "/settings" }],
  tools: [{ name: "navigate", description: "", parameters: { type: "object" } }],
  messages: [
    { id: "1", role: "assistant", content: "Hi", toolCalls: [] },
    {
      id: "2",
      role: "user",
      name: "Ada",
      content: [{ type: "text", text: "alpha" }, { type: "text", text: "beta" }],
    },
  ],
});

Deno.test("AG-UI: whichever member of a run changes, the texts beside it are asked, or the member is named", async () => {
  const texts = [["alpha", 0], ["beta", 1]] as const;
  let count = 0;
  for (const { path, change, document } of memberVariantsOf(WHOLE as unknown as JsonValue)) {
    const where = path.join(".");
    count++;
    const parsed = agUiRequest.safeParse(document);
    if (!parsed.success) {
      const named = parsed.error.issues.map((issue) => issue.path.join("."));
      assert.ok(
        named.some((name) => where.startsWith(name) || name.startsWith(where)),
        `${where} ${change}`,
      );
      continue;
    }
    unreadOf(parsed.data);
    const beside = texts.filter(([, place]) =>
      !`messages.1.content.${place}`.startsWith(where) &&
      !where.startsWith(`messages.1.content.${place}`) && where !== "messages.1.role"
    );
    const request = askedOf(parsed.data, null);
    if (beside.length === 0) continue;
    assert.ok(request !== null && request !== "read", `${where} ${change}`);
    const message = request.messages.at(-1);
    assert.ok(message);
    const outcome = await outcomeOf(message);
    for (const [text] of beside) {
      assert.ok(
        JSON.stringify(outcome).includes(text),
        `${where} ${change}: ${JSON.stringify(outcome)}`,
      );
    }
  }
  assert.ok(count > 300, `${count} changes`);
});
