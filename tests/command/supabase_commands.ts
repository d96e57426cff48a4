/** A command of the Supabase CLI that a page, a message or a hint writes. */
export interface WrittenCommand {
  /** Where it stands, such as `README.md:6`. */
  readonly place: string;
  /** The version that it names; null for the installed one. */
  readonly version: string | null;
  /** Its words, such as `db push`. */
  readonly words: string;
  readonly options: readonly string[];
}

/** Groups of the CLI, whose commands have a second word, and commands of one word. */
const GROUPS = "branches|config|db|functions|gen|migration|projects|secrets|services|storage|test";
const SINGLE = "bootstrap|init|link|login|start|status|stop";
/** In code, or after the version, up to the end of the line, code or text. */
const COMMAND = new RegExp(
  `(?<!Finished )\\bsupabase(?:@([\\d.]+))? ((?:${GROUPS}) [a-z]+|(?:${SINGLE}))\\b([^\`\\n]*)`,
  "g",
);
const BUILT = /supabaseCommand\("([^"]+)"\)/g;

/** Finds the commands in a text; a backslash continues a line. */
export function writtenCommands(path: string, text: string, pinned: string): WrittenCommand[] {
  const joined = text.replaceAll(/ *\\\n\s*/g, (gap) => " ".repeat(gap.length))
    .replaceAll(BUILT, (_, args: string) => `supabase@${pinned} ${args}`);
  return [...joined.matchAll(COMMAND)].map((
    { 1: version = null, 2: words = "", 3: rest = "", index },
  ) => ({
    place: `${path}:${joined.slice(0, index).split("\n").length}`,
    version,
    words,
    options: [...rest.replace(/ # .*/, "").matchAll(/(?<=^|\s)(--?[a-z][a-z-]*)/g)]
      .map(([, option = ""]) => option),
  }));
}

/** What `--help` of a command says. */
export interface CommandHelp {
  readonly options: ReadonlySet<string>;
  /** Whether it uses the stack of this machine unless `--remote` is given. */
  readonly isLocalByDefault: boolean;
}

/** Reads what the CLI prints for `--help`. @throws Error for the help of another command */
export function readHelp(words: string, printed: string): CommandHelp {
  if (!new RegExp(`^USAGE\\n\\s+supabase ${words}\\b`, "m").test(printed)) {
    throw new Error(`The CLI has no command supabase ${words}:\n${printed}`);
  }
  const options = [...printed.matchAll(/^ {2}(--[a-z-]+)(?:\[[^\]]*\])?(?:, (-\w))?/gm)];
  return {
    options: new Set(options.flatMap(([, long = "", short]) => [long, ...short ? [short] : []])),
    isLocalByDefault: /^TARGET\n\s+Local by default\./m.test(printed),
  };
}

/** What is wrong with a command; null if it does what it says. */
export function commandProblem(
  { place, version, words, options }: WrittenCommand,
  { options: known, isLocalByDefault }: CommandHelp,
  pinned: string,
): string | null {
  const shown = `${place}: supabase ${[words, ...options].join(" ")}`;
  const unknown = options.filter((option) => !known.has(option));
  if (unknown.length > 0) return `${shown} has no option ${unknown.join(", ")}`;
  if (isLocalByDefault && !options.includes("--remote")) {
    return `${shown} changes the stack of this machine: add --remote`;
  }
  if (version !== null && version !== pinned) return `${shown} names version ${version}`;
  return null;
}
