/** A variable that commands or the embedded stack read, in addition to those of the functions. */
export interface StackVariable {
  /** Its purpose, including the unit of a number. */
  readonly purpose: string;
  /** The default text; null if the variable may stay unset. */
  readonly defaultText: string | null;
}

/** Keys that the embedded stack copies to Vault, and addresses of models. */
export const MODEL_VARIABLES = {
  OPENAI_API_KEY: key("Key of OpenAI, copied to Vault at each start."),
  ANTHROPIC_API_KEY: key("Key of Anthropic, copied to Vault at each start."),
  GOOGLE_API_KEY: key("Key of Google Gemini, copied to Vault at each start."),
  OPENROUTER_API_KEY: key("Key of OpenRouter, copied to Vault at each start."),
  OPENAI_BASE_URL: {
    purpose:
      "Address of a model server in OpenAI's wire format, for the provider local-model. With OPENAI_API_KEY, that key is sent to it.",
    defaultText: "a server on a usual port of this machine",
  },
  OLLAMA_HOST: {
    purpose: "Address of an Ollama server, for the providers ollama and local-model.",
    defaultText: "http://127.0.0.1:11434",
  },
  GITHUB_TOKEN: key("Token for repositories that Quoth reads, copied to Vault at each start."),
} as const satisfies Record<string, StackVariable>;

/** Variables of the embedded stack and the commands. */
export const STACK_VARIABLES = {
  SUPASWARM_DATA_DIR: {
    purpose: "Folder of data, keys and files.",
    defaultText: ".supaswarm",
  },
  SUPASWARM_FILES_DIR: {
    purpose: "Folder that the seeded agents planner and reader may read.",
    defaultText: "docs",
  },
  SUPASWARM_ALLOWED_HOSTS: {
    purpose:
      "Host names under which the local ports may be reached, besides loopback names and the host of SUPASWARM_PUBLIC_URL, separated by commas.",
    defaultText: null,
  },
  SUPASWARM_CACHE_DIR: {
    purpose: "Folder of database snapshots of all projects and releases, safe to delete.",
    defaultText: "the user's cache folder, such as ~/.cache/supaswarm",
  },
  SUPASWARM_START_LIMIT_SECONDS: {
    purpose: "How long a step of a start may go on without progress, in seconds.",
    defaultText: "180",
  },
  SUPASWARM_NATIVE_PREFIX: {
    purpose: "Folder of the native Postgres; set it in the process's environment.",
    defaultText: ".supaswarm/native/prefix",
  },
  SUPASWARM_FUNCTION_WALL_CLOCK_SECONDS: {
    purpose: "Maximum lifetime of a function instance in the stack, in seconds.",
    defaultText: "400",
  },
  SUPABASE_PUBLISHABLE_KEY: {
    purpose: "With SUPABASE_URL: the project in which deno task eval runs its jobs.",
    defaultText: "the running stack",
  },
  SUPABASE_SECRET_KEY: {
    purpose: "With SUPABASE_URL: lets deno task eval create its user.",
    defaultText: "the running stack",
  },
  SUPASWARM_EVALS_EMAIL: {
    purpose: "Email address of the user whose jobs deno task eval runs.",
    defaultText: "evals@supaswarm.internal, which the first run creates",
  },
  SUPASWARM_EVALS_PASSWORD: {
    purpose: "Password of the user of SUPASWARM_EVALS_EMAIL.",
    defaultText: null,
  },
  SUPASWARM_DEBUG: {
    purpose: "When set, commands print the stack of an error; set it in the process's environment.",
    defaultText: null,
  },
} as const satisfies Record<string, StackVariable>;

function key(purpose: string): StackVariable {
  return { purpose, defaultText: null };
}
