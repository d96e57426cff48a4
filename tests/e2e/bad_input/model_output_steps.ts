import assert from "node:assert/strict";
import { addProvider } from "../operator.ts";
import type { Platform } from "../platform.ts";
import { assertFailed, MAX_ATTEMPTS, runToEnd } from "./ended_job.ts";
import { startRawServer, streamed } from "./raw_server.ts";
import type { Step } from "./step.ts";

/** Invalid answers. */
export async function modelOutputSteps(step: Step, platform: Platform): Promise<void> {
  const cases: readonly (readonly [string, string, () => Response, RegExp, number])[] = [
    ["a web page", "web-page", page, /web page/, MAX_ATTEMPTS],
    ["nothing, twice", "silent", () => streamed({ text: "" }), /two empty answers/, 2],
    ["calls whose arguments are not JSON", "garbled", garbled, /3 turns in a row/, 3],
    ["without end", "endless-words", tooMuch, /longer than 5000000 characters/, MAX_ATTEMPTS],
  ];
  for (const [name, slug, answer, says, requestCount] of cases) {
    await step(`a model that answers ${name} fails the task`, async () => {
      await using model = startRawServer(answer);
      await addProvider(platform.sql, { name: slug, baseUrl: `${model.url}/v1` });

      const end = await runToEnd(platform, { slug, provider: slug });

      assertFailed(end, slug === "web-page" ? "MODEL_UNAVAILABLE" : "MODEL_OUTPUT_INVALID", says);
      assert.equal(model.seen.length, requestCount);
    });
  }
}

function page(): Response {
  return new Response("<html>Welcome</html>", { headers: { "content-type": "text/html" } });
}

function garbled(): Response {
  return streamed({ calls: [{ name: "complete_task", argumentsText: '{"output": ' }] });
}

function tooMuch(): Response {
  return streamed({ text: "x".repeat(5_100_000) });
}
