import assert from "node:assert/strict";
import { startManagementApi } from "./management_api.ts";
import { uploadProblems, type UploadSize, uploadSizeOf } from "./upload_size.ts";

const SMALL: UploadSize = {
  name: "mcp",
  files: 480,
  bytes: 2_900_000,
  largest: [{ path: "shared/vendor/zod.js", bytes: 160_000 }],
};

Deno.test("uploadSizeOf() counts the whole request that deploys a function", async () => {
  const api = startManagementApi();
  try {
    const form = new FormData();
    form.append("metadata", JSON.stringify({ name: "mcp" }));
    form.append("file", new File(["x".repeat(1_000)], "index.ts"));
    form.append("file", new File(["x".repeat(5_000)], "shared/platform/values/large.ts"));
    const request = new Request(
      `${api.url}/v1/projects/${api.projectRef}/functions/deploy?slug=mcp`,
      {
        method: "POST",
        body: form,
      },
    );
    const sent = (await request.clone().arrayBuffer()).byteLength;
    await (await fetch(request)).body?.cancel();

    assert.deepEqual(api.deployments.map(uploadSizeOf), [{
      name: "mcp",
      files: 2,
      bytes: sent,
      largest: [{ path: "shared/platform/values/large.ts", bytes: 5_000 }, {
        path: "index.ts",
        bytes: 1_000,
      }],
    }]);
  } finally {
    await api.stop();
  }
});

Deno.test("uploadProblems() reports an upload that is too large, with its largest files", () => {
  assert.deepEqual(uploadProblems(SMALL), []);
  assert.match(
    uploadProblems({ ...SMALL, bytes: 3_400_000 })[0] ?? "",
    /^mcp: the upload has 3\.40 MB, the limit is 3\.40 MB; .* MB: shared\/vendor\/zod\.js 0\.16; see/,
  );
});
