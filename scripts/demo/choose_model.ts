/** The model that the demo runs on. */
export interface DemoModel {
  /** A name of `llm_providers`. */
  readonly provider: "demo" | "openai" | "anthropic" | "google" | "ollama";
  /** The variable that chose it; null for the scripted model. */
  readonly variable: string | null;
}

const CHOICES: readonly DemoModel[] = [
  { provider: "openai", variable: "OPENAI_API_KEY" },
  { provider: "anthropic", variable: "ANTHROPIC_API_KEY" },
  { provider: "google", variable: "GOOGLE_API_KEY" },
  { provider: "ollama", variable: "OLLAMA_HOST" },
];

/** The first provider whose variable is set; without any, the scripted model. */
export function chooseModel(environment: Readonly<Record<string, string>>): DemoModel {
  return CHOICES.find(({ variable }) => variable !== null && environment[variable]) ??
    { provider: "demo", variable: null };
}
