/** The model that the demo runs on. */
export interface DemoModel {
  /** A name of `llm_providers`. */
  readonly provider: "demo" | "openai" | "anthropic" | "google" | "ollama";
  /** The variable that chose it; null for the scripted model. */
  readonly variable: string | null;
  /** Whether the variable holds a key, which must not be exposed anywhere. */
  readonly isKeyed: boolean;
}

const CHOICES: readonly DemoModel[] = [
  { provider: "openai", variable: "OPENAI_API_KEY", isKeyed: true },
  { provider: "anthropic", variable: "ANTHROPIC_API_KEY", isKeyed: true },
  { provider: "google", variable: "GOOGLE_API_KEY", isKeyed: true },
  { provider: "ollama", variable: "OLLAMA_HOST", isKeyed: false },
];

/** Returns the first provider whose variable is set, otherwise the scripted model. */
export function chooseModel(environment: Readonly<Record<string, string>>): DemoModel {
  return CHOICES.find(({ variable }) => variable !== null && environment[variable]) ??
    { provider: "demo", variable: null, isKeyed: false };
}

/** Returns the real keys for calls of the model. */
export function modelKeys(
  { variable, isKeyed }: DemoModel,
  environment: Readonly<Record<string, string>>,
): string[] {
  const key = variable === null ? undefined : environment[variable];
  return isKeyed && key !== undefined ? [key] : [];
}
