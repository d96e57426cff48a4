/** `deno task quickstart:record`: runs the quickstart and writes the output of its commands. */
import { join } from "node:path";
import { runCommand } from "../../scripts/cli/run_command.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { writeLine } from "../../scripts/terminal.ts";
import { codeBlocks } from "./code_blocks.ts";
import { makeShims, startDocsStack } from "./docs_stack.ts";
import { runBlock } from "./run_block.ts";

const PAGE = "docs/quickstart.md";
const SESSION = "docs/quickstart-session.md";

await runCommand({
  name: "deno task quickstart:record",
  summary: `Runs the shell blocks of ${PAGE} in a fresh copy and writes ${SESSION}.`,
  options: {},
}, async () => {
  const startedAt = performance.now();
  const blocks = codeBlocks(PAGE, await Deno.readTextFile(join(PROJECT_ROOT, PAGE)));
  await using stack = await startDocsStack();
  const folder = join(stack.clone.root, "..");
  const run = { stack, folder, shims: await makeShims(folder) };
  const parts = [
    `$ npx -y deno@2.9.6 task start     # in another terminal\n${readyText(stack.ready)}`,
  ];
  for (const block of blocks) {
    const printed = await runBlock(run, block);
    if (block.language !== "sh" || block.directive.kind !== "run") continue;
    parts.push(`${commandText(block.text)}\n${printed.trimEnd()}`);
  }
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  const text = parts.join("\n\n").replaceAll(stack.ready.api_url, "http://127.0.0.1:54321")
    .replaceAll(folder, "…");
  await Deno.writeTextFile(join(PROJECT_ROOT, SESSION), page(text, seconds));
  writeLine(`Wrote ${SESSION}`);
});

function readyText({ boot_ms, api_url, functions }: {
  readonly boot_ms: number;
  readonly api_url: string;
  readonly functions: readonly string[];
}): string {
  return `SupaSwarm is ready in ${(boot_ms / 1_000).toFixed(1)} s.\n` +
    `  API             ${api_url}\n  Functions       ${functions.join(", ")}`;
}

/** Formatted as in a terminal: a prompt, and a mark on each further line. */
function commandText(text: string): string {
  return text.split("\n").map((line, index) => `${index === 0 ? "$" : ">"} ${line}`).join("\n");
}

function page(text: string, seconds: string): string {
  return `# A recorded session of the quickstart

Written by \`deno task quickstart:record\`, which runs the shell commands of the
[quickstart](quickstart.md) in a fresh copy of the project. It took ${seconds} s on a busy two-core machine.

\`\`\`\`text
${text}
\`\`\`\`
`;
}
