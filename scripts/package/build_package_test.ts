import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { loadTypescript } from "../deps.ts";
import { buildClient, MAX_COMPRESSED_BYTES } from "./build_package.ts";

const USE = `
import { createSwarm, type JobEvent } from "supaswarm/client";
interface Agents { agents: { writer: { input: { topic: string }; output: { words: number } } } }
declare const supabase: Parameters<typeof createSwarm>[0];
const swarm = createSwarm<Agents>(supabase);
const job = await swarm.run("writer", { topic: "t" });
export const words: number = (await job.result()).words;
export const question = (event: JobEvent): string | null =>
  event.type === "review.requested" ? event.data.question : null;
`;

/** Mistakes that the types must find, one in each line. */
const MISTAKES = [
  'await swarm.run("writr", { topic: "t" });',
  'await swarm.run("writer", { topics: "t" });',
  'await swarm.run("writer", { topic: "t" }, { budgets: {} });',
  "const wrong: string = (await job.result()).words;",
  'for await (const event of job) if (event.type === "review.requsted") break;',
  'for await (const event of job) if (event.type === "task.failed") event.data.output;',
  "await job.respond(job.id, { approve: true });",
];

Deno.test("the package is a module of its own, whose types find mistakes", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "supaswarm-package-" });
  try {
    const installed = join(folder, "node_modules/supaswarm");
    const { compressedBytes } = await buildClient(installed);

    await t.step("its module has the client and its error, and imports nothing", async () => {
      const module = await import(pathToFileURL(join(installed, "client.js")).href);
      assert.deepEqual(Object.keys(module), [
        "Job",
        "JobView",
        "ReviewsView",
        "Swarm",
        "SwarmChat",
        "SwarmClientError",
        "createSwarm",
        "readableJson",
      ]);
    });
    await t.step("a page downloads at most 12 KB for it", () => {
      assert.equal(MAX_COMPRESSED_BYTES, 12 * 1024);
      assert.ok(compressedBytes <= MAX_COMPRESSED_BYTES, `${compressedBytes} bytes`);
    });
    await t.step(
      "the hooks of a framework import only the framework, which is optional",
      async () => {
        const manifest = JSON.parse(await Deno.readTextFile(join(installed, "package.json")));
        for (const name of ["react", "vue"]) {
          const code = await Deno.readTextFile(join(installed, `${name}.js`));
          const types = await Deno.readTextFile(join(installed, `types/${name}.d.ts`));
          assert.deepEqual(importedModules(code), [name]);
          assert.deepEqual(importedModules(types).filter((from) => from !== name), ["./mod.js"]);
          assert.ok(name in manifest.peerDependencies);
          assert.equal(manifest.peerDependenciesMeta[name].optional, true);
        }
        const react = await Deno.readTextFile(join(installed, "react.js"));
        assert.match(react, /^"use client";/, "server components of React may import it");
      },
    );
    await t.step("the machine's Node imports it", async () => {
      const program =
        'import("supaswarm/client").then(({ createSwarm }) => console.log(typeof createSwarm))';
      const output = await new Deno.Command("node", { args: ["-e", program], cwd: folder }).output()
        .catch((error) => {
          if (error instanceof Deno.errors.NotFound) return null;
          throw error;
        });
      if (output === null) return;
      assert.equal(new TextDecoder().decode(output.stdout), "function\n");
    });
    await t.step("its types accept a correct program and find each planted mistake", async () => {
      const found = await problemLines(folder, `${USE}${MISTAKES.join("\n")}`);

      const first = USE.split("\n").length;
      assert.deepEqual(found, MISTAKES.map((_, index) => first + index));
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

function importedModules(source: string): string[] {
  return [...source.matchAll(/^import\b[^;]*?from "([^"]+)"/gm)].map(([, from = ""]) => from);
}

/** The lines of a program in which the types find a problem. */
async function problemLines(folder: string, program: string): Promise<number[]> {
  const ts = await loadTypescript();
  const path = join(folder, "use.ts");
  await Deno.writeTextFile(path, program);
  const { getOptionsDiagnostics, getSemanticDiagnostics } = ts.createProgram([path], {
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    lib: ["lib.es2024.d.ts", "lib.dom.d.ts", "lib.dom.asynciterable.d.ts"],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  });
  return [...getOptionsDiagnostics(), ...getSemanticDiagnostics()].map((problem) => {
    const text = ts.flattenDiagnosticMessageText(problem.messageText, "\n");
    assert.equal(problem.file?.fileName, path, text);
    return 1 + problem.file.getLineAndCharacterOfPosition(problem.start ?? 0).line;
  });
}
