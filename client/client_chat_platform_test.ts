import assert from "node:assert/strict";
import { clientChatPlatform } from "./client_chat_platform.ts";
import type { Files } from "./files.ts";
import type { JobContext } from "./job.ts";

Deno.test("a file of a message is stored under a name that Storage takes, whatever its own name", async () => {
  const files = { upload: (_: Blob, { name }: { name: string }) => Promise.resolve(name) };
  const platform = clientChatPlatform({} as JobContext, files as unknown as Files);
  const url = "data:text/plain,Hello";
  const upload = (filename?: string) =>
    platform.upload({ url, mediaType: "text/markdown", ...filename !== undefined && { filename } });

  assert.match(await upload("Résumé (2).pdf"), /^[0-9a-f]+-R_sum_2_\.pdf$/);
  assert.match(await upload("../スクリーンショット\u202f.png"), /^[0-9a-f]+-\.\._\.png$/);
  assert.match(await upload(`${"n".repeat(1_000)}.md`), /^[0-9a-f]+-n{97}\.md$/);
  assert.match(await upload(), /^[0-9a-f]+-message\.markdown$/);
});
