import { join } from "node:path";
import { loadYaml } from "../../scripts/deps.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { z } from "../../shared/vendor/zod.js";
import { type CodeBlock, codeBlocks } from "./code_blocks.ts";

const PAGE = "docs/how-to/use-in-ci.md";
const WORKFLOW = ".github/workflows/agents.yml";

const workflow = z.object({
  jobs: z.record(
    z.string(),
    z.object({ steps: z.array(z.object({ run: z.string().optional() })) }),
  ),
});

/** The page about CI: the files that its reader saves, and the commands of the workflow's jobs. */
export interface CiPage {
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** The commands of a job's steps, in order, without the installation of packages. */
  commands(job: "test" | "deploy"): readonly string[];
}

/** Reads the page about CI. */
export async function readCiPage(): Promise<CiPage> {
  const blocks = codeBlocks(PAGE, await Deno.readTextFile(join(PROJECT_ROOT, PAGE)));
  const files = blocks.flatMap(savedFile);
  const { parse } = await loadYaml();
  const { jobs } = workflow.parse(parse(files.find(({ path }) => path === WORKFLOW)?.text ?? ""));
  return {
    files,
    commands: (job) =>
      (jobs[job]?.steps ?? []).flatMap(({ run }) =>
        run === undefined || run === "npm ci" ? [] : [run]
      ),
  };
}

function savedFile({ directive, text }: CodeBlock): CiPage["files"] {
  return directive.kind === "save" ? [{ path: directive.path, text: `${text}\n` }] : [];
}
