import assert from "node:assert/strict";
import { ENV_VARIABLES } from "../../shared/platform/config/env_variables.ts";
import { environmentPage } from "./environment_page.ts";
import { MODEL_VARIABLES, STACK_VARIABLES } from "./stack_variables.ts";

const EMPTY_PAGE = ["functions", "traces", "platform", "models", "stack"]
  .map((name) => `<!-- begin ${name} -->\n<!-- end ${name} -->`).join("\n");

Deno.test("environmentPage() has one row per declared variable, with purpose and default", () => {
  const rows = environmentPage(EMPTY_PAGE).split("\n").filter((line) => line.startsWith("| `"));

  for (
    const [name, { purpose, defaultText }] of Object.entries<
      { purpose: string; defaultText: string | null }
    >({ ...ENV_VARIABLES, ...MODEL_VARIABLES, ...STACK_VARIABLES })
  ) {
    const own = rows.filter((row) => row.startsWith(`| \`${name}\` |`));
    assert.equal(own.length, 1, name);
    assert.ok(own[0]?.includes(purpose), name);
    if (name.startsWith("SUPABASE_")) continue; // The platform sets it, so it has no default.
    assert.ok(own[0]?.endsWith(`| ${defaultText ? `\`${defaultText}\`` : "unset"} |`), name);
  }
});

Deno.test("environmentPage() is idempotent", () => {
  const once = environmentPage(EMPTY_PAGE);

  assert.equal(environmentPage(once), once);
});
