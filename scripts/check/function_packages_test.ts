import assert from "node:assert/strict";
import type { ProjectModule } from "../deploy/module_graph.ts";
import { functionPackageProblems } from "./function_packages.ts";

const ENTRY = "supabase/functions/f/index.ts";

Deno.test("functionPackageProblems() accepts an SDK that is loaded on first use", () => {
  const problems = functionPackageProblems(ENTRY, [
    moduleOf(ENTRY, { eager: ["shared/models/llm/choose.ts", "shared/vendor/zod.js"] }),
    moduleOf("shared/models/llm/choose.ts", { lazy: ["shared/models/llm/openai_adapter.ts"] }),
    moduleOf("shared/models/llm/openai_adapter.ts", { eager: ["shared/vendor/openai.js"] }),
    moduleOf("shared/vendor/openai.js", { eager: ["node:process"] }),
  ]);

  assert.deepEqual(problems, []);
});

Deno.test("functionPackageProblems() reports an SDK that is loaded with the function", () => {
  const problems = functionPackageProblems(ENTRY, [
    moduleOf(ENTRY, { eager: ["shared/models/llm/openai_adapter.ts"] }),
    moduleOf("shared/models/llm/openai_adapter.ts", { eager: ["shared/vendor/openai.js"] }),
  ]);

  assert.deepEqual(problems, [
    `${ENTRY} loads shared/vendor/openai.js when it starts (shared/models/llm/openai_adapter.ts): ` +
    "load it with import() when it is first needed",
  ]);
});

for (const specifier of ["npm:@google/genai@3.1.0/web", "npm:/openai@7.57.0", "npm:zod@4"]) {
  Deno.test(`functionPackageProblems() reports ${specifier}, which has a vendored module`, () => {
    const [problem, ...others] = functionPackageProblems(ENTRY, [
      moduleOf(ENTRY, { lazy: ["shared/models/llm/adapter.ts"] }),
      moduleOf("shared/models/llm/adapter.ts", { lazy: [specifier] }),
    ]);

    assert.deepEqual(others, []);
    assert.match(problem ?? "", /^shared\/models\/llm\/adapter\.ts imports npm:.*import it from/);
  });
}

Deno.test("functionPackageProblems() accepts a package without a vendored module", () => {
  assert.deepEqual(
    functionPackageProblems(ENTRY, [moduleOf(ENTRY, { eager: ["npm:left-pad@1.3.0"] })]),
    [],
  );
});

Deno.test("functionPackageProblems() reports a vendored module that is uploaded for its types", () => {
  const problems = functionPackageProblems(ENTRY, [
    moduleOf(ENTRY, { lazy: ["shared/gateway/mcp/result.ts", "shared/vendor/mcp_client.js"] }),
    moduleOf("shared/gateway/mcp/result.ts", {
      types: ["shared/vendor/mcp_client.js", "shared/vendor/mcp_server.js"],
    }),
  ]);

  assert.deepEqual(problems, [
    `${ENTRY} uploads shared/vendor/mcp_server.js only for its types (shared/gateway/mcp/result.ts): ` +
    "import the types from a module that the function runs, or declare them",
  ]);
});

interface Imports {
  readonly eager?: readonly string[];
  readonly lazy?: readonly string[];
  readonly types?: readonly string[];
}

function moduleOf(path: string, { eager = [], lazy = [], types = [] }: Imports): ProjectModule {
  const runtimeImports = [
    ...eager.map((target) => ({ target, isDynamic: false })),
    ...lazy.map((target) => ({ target, isDynamic: true })),
  ];
  return { path, imports: [...eager, ...lazy, ...types], runtimeImports };
}
