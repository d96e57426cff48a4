import assert from "node:assert/strict";
import {
  type EmbeddingServer,
  startEmbeddingServer,
} from "../../../scripts/embedding/embedding_server.ts";
import { MinilmPool } from "../../../scripts/embedding/minilm_pool.ts";
import {
  type MinilmProcess,
  startMinilmProcess,
} from "../../../scripts/embedding/minilm_process.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import type { Embedder } from "../../../shared/servers/quoth/embedders/embedder_port.ts";
import { embedderOf, similarity } from "./embedder_wire.ts";

const NEVER = new AbortController().signal;
const probe = startMinilmProcess();
Deno.test.afterAll(() => probe.stop());
const whyNot = await reasonToSkip();
const skipped = whyNot === null ? "" : ` (skipped: ${whyNot})`;
const claim = (name: string, fn: (t: Deno.TestContext) => Promise<void>) =>
  Deno.test({ name: `${name}${skipped}`, ignore: whyNot !== null, fn });

claim("the embedding server runs MiniLM", async (t) => {
  // To load the model takes longer than these steps, and the probe has done so already.
  const loaded = [probe];
  const pool = new MinilmPool({ startProcess: () => loaded.pop() ?? startMinilmProcess() });
  await withServer(pool, async ({ embedder }) => {
    await t.step("it matches the measured similarities, combined with the word hash", async () => {
      const pairs = [
        ["not supported", "supported", 0.829, 0.005],
        ["row level security policy", "restrict which rows each user can read", 0.529, 0.005],
        ["row level security policy", "button colour in CSS", 0.05, 0.02],
        ["reset my password", "cat on the mat", 0.09, 0.02],
        ["reset my password", "recover access when I forgot my credentials", 0.62, 0.08],
      ] as const;
      const texts: readonly string[] = [...new Set(pairs.flatMap(([a, b]) => [a, b]))];
      const vectors = await embedder.embedDocuments(
        texts.map((text) => ({ title: "", text })),
        NEVER,
      );
      const vectorOf = (text: string) => vectors[texts.indexOf(text)] ?? [];
      for (const vector of vectors) {
        assert.equal(vector.length, 768);
        assert.ok(Math.abs(similarity(vector, vector) - 1) < 1e-9);
        assert.ok(Math.abs(similarity(vector.slice(384), vector.slice(384)) - 0.3) < 1e-6);
      }
      for (const [a, b, expected, tolerance] of pairs) {
        const meaning = similarity(vectorOf(a).slice(0, 384), vectorOf(b).slice(0, 384)) / 0.7;
        assert.ok(Math.abs(meaning - expected) <= tolerance, `${a} ~ ${b}: ${meaning.toFixed(3)}`);
      }
      assert.deepEqual(
        await embedder.embedQuery("not supported", NEVER),
        vectorOf("not supported"),
      );
    });

    await t.step("a search overtakes waiting documents", async () => {
      const order: string[] = [];
      const item = { title: "", text: "word ".repeat(150) };
      const documents = embedder.embedDocuments(Array(6).fill(item), NEVER)
        .then(() => order.push("documents"));
      const query = embedder.embedQuery("where?", NEVER).then(() => order.push("query"));

      await Promise.all([documents, query]);

      assert.deepEqual(order, ["query", "documents"]);
    });
  });
});

claim("a killed process fails only its text, and is replaced", async () => {
  const processes: MinilmProcess[] = [];
  const pool = new MinilmPool({
    startProcess: () => {
      const process = startMinilmProcess();
      processes.push(process);
      return process;
    },
  });
  await withServer(pool, async ({ embedder }) => {
    await embedder.embedQuery("load the model", NEVER);
    const doomed = embedder.embedQuery("word ".repeat(200), NEVER);
    const failure = assert.rejects(doomed, {
      code: "EMBEDDER_UNAVAILABLE",
      message: /process has ended/,
    });
    // The text has reached the process, which takes at least a tenth of a second.
    await waitFor(() => pool.busyCount === 1, { intervalMs: 5, what: "the text to be at work" });
    Deno.kill(processes[0]?.pid ?? -1, "SIGKILL");
    await failure;

    assert.equal((await embedder.embedQuery("and on", NEVER)).length, 768);
    assert.equal(processes.length, 2);
  });
});

claim(
  "the model's memory is freed after some time without work",
  () =>
    withServer(new MinilmPool({ idleMs: 20 }), async ({ embedder, pool }) => {
      await embedder.embedQuery("once", NEVER);
      await waitFor(() => pool.processCount === 0, { what: "the processes to end" });

      assert.equal((await embedder.embedQuery("again", NEVER)).length, 768);
    }),
);

Deno.test("without its packages the offline embedder names what is missing", async () => {
  const packages = { engine: "file:///no/engine.js", model: "file:///no/model.js" };
  const pool = new MinilmPool({ startProcess: () => startMinilmProcess(packages) });
  await withServer(pool, async ({ embedder }) => {
    await assert.rejects(embedder.embedQuery("how?", NEVER), {
      code: "EMBEDDER_UNAVAILABLE",
      message: /Cannot run MiniLM: .*engine\.js.*\(HTTP 503\)/,
    });
  });
});

Deno.test("the embedding server accepts only the requests that it serves", async () => {
  await withServer(new MinilmPool(), async ({ server, pool }) => {
    const post = async (body: string, headers = { "content-type": "application/json" }) => {
      const response = await fetch(`${server.url}/v1/embeddings`, {
        method: "POST",
        headers,
        body,
      });
      await response.body?.cancel();
      return response.status;
    };
    const input = ["a"];

    assert.equal(await post(JSON.stringify({ model: "other", input })), 404);
    assert.equal(await post(JSON.stringify({ model: "minilm-l6-v2", input: [] })), 400);
    assert.equal(
      await post(JSON.stringify({ model: "minilm-l6-v2", input: Array(65).fill("a") })),
      400,
    );
    assert.equal(await post("{"), 400);
    assert.equal(await post(`"${"x".repeat(5_000_000)}"`), 400);
    // Requests that a browser page can send without a preflight.
    assert.equal(
      await post(JSON.stringify({ model: "minilm-l6-v2", input }), {
        "content-type": "text/plain",
      }),
      415,
    );
    const other = await fetch(server.url);
    await other.body?.cancel();
    assert.equal(other.status, 404);
    assert.equal(pool.processCount, 0);
  });
});

async function withServer(
  pool: MinilmPool,
  body: (world: {
    readonly embedder: Embedder;
    readonly server: EmbeddingServer;
    readonly pool: MinilmPool;
  }) => Promise<void>,
): Promise<void> {
  const server = startEmbeddingServer(pool);
  try {
    const embedder = embedderOf({
      base_url: `${server.url}/v1`,
      model: "minilm-l6-v2",
      model_dimensions: 384,
      max_batch_items: 16,
      secret: null,
    });
    await body({ embedder, server, pool });
  } finally {
    await server.stop();
  }
}

/** The packages are an optional download; every other failure is an error of ours. */
async function reasonToSkip(): Promise<string | null> {
  try {
    await probe.embed("ready?");
    return null;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const isMissing = /Failed loading|error sending request|Could not find npm package/i;
    return isMissing.test(reason) ? `MiniLM's packages cannot be loaded: ${reason}` : null;
  }
}
