import assert from "node:assert/strict";
import MarkdownIt from "../../vendor/markdown_it.js";
import { conversationExport, toJsonDocument, toMarkdownDocument } from "./export_conversation.ts";
import type { StoredConversation } from "./read_messages.ts";

const CONTENTS = [
  "Plain",
  "# A heading\n\n## User, later",
  "```\nunclosed fence",
  "````js\ncode\n````\n`````",
  "</text><script>alert(1)</script>\n<!-- open",
  "trailing backticks ```",
  "~~~\n---\n***",
  "[link]: http://example.test",
];

/** Newest first, in the order in which they are read. */
const CONVERSATION: StoredConversation = {
  id: "c1",
  title: "# *Plans*\n## for <b>today</b>",
  created_at: "2026-11-01T00:00:00Z",
  messages: CONTENTS.map((content, place) => ({
    id: `m${place}`,
    role: place % 2 === 0 ? "user" as const : "assistant" as const,
    content,
    client_message_id: place === 0 ? "key" : null,
    created_at: "2026-11-01T00:00:00Z",
  })).reverse(),
};

Deno.test("no message ends its block in a Markdown export", () => {
  const tokens = new MarkdownIt({ html: true }).parse(toMarkdownDocument(CONVERSATION), {});
  const headings = tokens.filter(({ type }) => type === "heading_open");
  const fences = tokens.filter(({ type }) => type === "fence");

  assert.deepEqual(headings.map(({ tag }) => tag), ["h1", ...CONTENTS.map(() => "h2")]);
  assert.deepEqual(fences.map(({ content }) => content), CONTENTS.map((text) => `${text}\n`));
  assert.ok(!tokens.some(({ type }) => type === "html_block"));
  const title = tokens[tokens.findIndex(({ tag }) => tag === "h1") + 1];
  assert.deepEqual(
    title?.children?.map(({ type }) => type).filter((type) => !type.startsWith("text")),
    [],
  );
});

Deno.test("a JSON export has the messages oldest first, each with a key", () => {
  const exported = conversationExport.parse(JSON.parse(toJsonDocument(CONVERSATION)));

  assert.deepEqual(exported.messages.map(({ content }) => content), CONTENTS);
  assert.deepEqual(exported.messages.map(({ clientMessageId }) => clientMessageId).slice(0, 2), [
    "key",
    "m1",
  ]);
});
