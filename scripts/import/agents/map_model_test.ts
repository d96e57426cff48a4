import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT } from "../../project_root.ts";
import { CURRENT_MODELS, mapModel } from "./map_model.ts";

Deno.test("every model that an alias stands for is in the catalog, with a price", async () => {
  const path = join(PROJECT_ROOT, "supabase/schemas/models/model_catalog.sql");
  const catalog = await Deno.readTextFile(path);

  for (const [provider, { families }] of Object.entries(CURRENT_MODELS)) {
    for (const model of Object.values(families)) {
      const rows = catalog.split(`('${provider}', '${model}',`).length - 1;
      assert.ok(rows >= 2, `${provider} ${model} has no row of prices`);
    }
  }
});

Deno.test("mapModel() knows aliases, retired versions, lists and names of other vendors", () => {
  const own = { opus: "claude-opus-of-ours" };
  const cases: readonly (readonly [written: string, provider: string, model: string | null])[] = [
    ["sonnet", "anthropic", "claude-sonnet-5-5"],
    ["opus", "anthropic", "claude-opus-of-ours"],
    ["constructor", "anthropic", null],
    ["sonnet", "constructor", null],
    ["haiku", "anthropic", "claude-haiku-5-5"],
    ["sonnet[1m]", "anthropic", "claude-sonnet-5-5"],
    ["claude-sonnet-4-20250514", "anthropic", "claude-sonnet-5-5"],
    ["Claude Haiku 4.5 (copilot)", "anthropic", "claude-haiku-5-5"],
    ["claude-haiku-5-5", "anthropic", "claude-haiku-5-5"],
    ["GPT-4.1,Claude Sonnet 4.6", "anthropic", "claude-sonnet-5-5"],
    ["gpt-5.4-mini", "openai", "gpt-5.4-mini"],
    ["inherit", "anthropic", null],
    ["", "anthropic", null],
    ["sonnet", "openai", null],
    ["gpt-5", "anthropic", null],
    ["sonnet", "ours", null],
  ];
  for (const [written, provider, model] of cases) {
    assert.equal(mapModel(written, provider, own).model, model, `${written} at ${provider}`);
  }
  assert.equal(mapModel("inherit", "openai", {}).note, null);
  assert.equal(
    mapModel("sonnet", "openai", {}).note,
    "model sonnet became the default of openai",
  );
});
