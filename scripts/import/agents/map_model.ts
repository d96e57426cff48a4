import { ownMember } from "../../../shared/platform/values/own_member.ts";

/** What the price list of a new project has of a provider. */
interface KnownModels {
  /** The current model of each family, by a word in the names of the family. */
  readonly families: Readonly<Record<string, string>>;
  /** How the provider's names of models begin. */
  readonly names: RegExp;
}

/**
 * The models that coding agents mean by an alias. Opus has no price in the list, so that the
 * strongest model that has one stands for it. A test compares the names with the list.
 */
export const CURRENT_MODELS: Readonly<Record<string, KnownModels>> = {
  anthropic: {
    families: {
      haiku: "claude-haiku-5-5",
      sonnet: "claude-sonnet-5-5",
      opus: "claude-sonnet-5-5",
    },
    names: /^claude-/,
  },
  openai: { families: {}, names: /^(gpt-|o\d|chatgpt-)/ },
  google: { families: {}, names: /^gemini-/ },
  openrouter: { families: {}, names: /^[\w.-]+\/[\w.:-]+$/ },
};

/** Means the model of whoever calls the agent, so here the provider's default. */
const INHERITED = /^(inherit|default|auto)?$/;

/** The model of an imported agent; null is the provider's default. */
export interface MappedModel {
  readonly model: string | null;
  /** What became of the name; null if it was kept or meant the default. */
  readonly note: string | null;
}

/**
 * The model that a subagent file means, at a provider.
 *
 * @param written A name, an alias, or several of them with commas.
 * @param own The user's own names, by what files say.
 */
export function mapModel(
  written: string,
  provider: string,
  own: Readonly<Record<string, string>>,
): MappedModel {
  const names = written.split(/[,|]/).map((name) =>
    name.replace(/['"]|\(.*?\)|\[.*?\]/g, "").trim()
  );
  if (names.every((name) => INHERITED.test(name.toLowerCase()))) return { model: null, note: null };
  for (const name of names) {
    const model = ownMember(own, name) ?? ownMember(own, name.toLowerCase()) ??
      currentModel(name, provider);
    if (model === null || model === undefined) continue;
    return { model, note: model === written ? null : `model ${written} became ${model}` };
  }
  return { model: null, note: `model ${written} became the default of ${provider}` };
}

function currentModel(written: string, provider: string): string | null {
  const known = ownMember(CURRENT_MODELS, provider);
  if (known === undefined) return null;
  const name = written.toLowerCase().replaceAll(/\s+/g, "-");
  const current = Object.values(known.families);
  if (current.includes(name)) return name;
  const [, family] = Object.entries(known.families).find(([word]) => name.includes(word)) ?? [];
  return family ?? (known.names.test(name) ? name : null);
}
