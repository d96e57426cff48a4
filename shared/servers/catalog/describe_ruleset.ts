import { fenceData } from "../../gateway/tool_contracts/fence_data.ts";
import { rulesetContent } from "./ruleset_content.ts";
import type { StoredRuleset } from "./read_ruleset.ts";

const KINDS = { must: "Must", must_not: "Must not", prefer: "Prefer" } as const;

/** A ruleset as instructions for a model; unknown settings are passed on unchanged. */
export function describeRuleset({ name, content }: StoredRuleset): string {
  const { rules = [], tone, audience, language, max_words, examples = [], ...others } =
    rulesetContent.parse(content);
  const lines = [
    ...rules.map((rule) =>
      typeof rule === "string"
        ? rule
        : rule.kind === undefined
        ? rule.text
        : `${KINDS[rule.kind]}: ${rule.text}`
    ),
    ...named("Tone", tone),
    ...named("Audience", audience),
    ...named("Language", language),
    ...(max_words === undefined ? [] : [`At most ${max_words} words`]),
  ];
  const settings = Object.keys(others).length === 0
    ? []
    : [`Further settings of the ruleset:\n${fenceData(JSON.stringify(others), "ruleset")}`];
  const shown = examples.map(({ before, after }) =>
    fenceData(`Before: ${before}\nAfter: ${after}`, "example")
  );
  const numbered = lines.map((line, at) => `${at + 1}. ${line}`).join("\n");
  return [
    `The rewritten prompt must follow the ruleset "${name}".`,
    numbered,
    ...settings,
    ...shown,
  ].filter((part) => part !== "").join("\n\n");
}

function named(label: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`${label}: ${value}`];
}
