/**
 * Writes `docs/reference/catalog.md`, the page of the tool catalog, from the tools' definitions.
 * With `--check`, it writes nothing and fails if the page is out of date.
 */
import { join } from "node:path";
import { runCommand } from "./cli/run_command.ts";
import { formatText } from "./markdown/format_text.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { writeLine } from "./terminal.ts";
import { catalogPage } from "./catalog/catalog_page.ts";

const PAGE = join(PROJECT_ROOT, "docs/reference/catalog.md");

await runCommand(
  {
    name: "deno task catalog:generate",
    summary: "Writes docs/reference/catalog.md from the definitions of the catalog's tools.",
    options: {
      check: { type: "boolean", help: "Write nothing; fail if the page is out of date." },
    },
  },
  async ({ values: { check } }) => {
    const page = await formatText(catalogPage(), "md");
    const isCurrent = await Deno.readTextFile(PAGE).catch(() => "") === page;
    if (check === true) {
      if (!isCurrent) {
        throw new Error("docs/reference/catalog.md is out of date: run deno task catalog:generate");
      }
      return;
    }
    if (!isCurrent) await Deno.writeTextFile(PAGE, page);
    writeLine(`${isCurrent ? "Up to date:" : "Wrote"} docs/reference/catalog.md`);
  },
);
