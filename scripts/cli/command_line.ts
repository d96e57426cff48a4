import { parseArgs } from "node:util";
import { nearestNames } from "../../shared/platform/values/nearest_names.ts";

/** One flag of a command. */
export interface CommandOption {
  readonly type: "string" | "boolean";
  /** One letter that stands for the name. @default none */
  readonly short?: string;
  /** One line for `--help`, with unit and default where they apply. */
  readonly help: string;
  /** The placeholder of the value in `--help`, for example `N`. Only for `string`. */
  readonly placeholder?: string;
}

/** The flags of a command; `--help` is always supported. */
export interface CommandSpec<Options extends Record<string, CommandOption>> {
  /** The command as typed, for example `deno task start`. */
  readonly name: string;
  /** One sentence that says what the command does. */
  readonly summary: string;
  readonly options: Options;
  /**
   * The placeholder for arguments without a flag, for example `[folder]`; absent if none are
   * accepted.
   */
  readonly positionals?: string;
}

/** The values of the flags: absent strings are undefined, absent booleans false. */
export type CommandValues<Options extends Record<string, CommandOption>> = {
  readonly [Name in keyof Options]: Options[Name]["type"] extends "boolean" ? boolean
    : string | undefined;
};

/** The result of parsing the arguments. */
export type CommandLine<Options extends Record<string, CommandOption>> =
  | {
    readonly kind: "run";
    readonly values: CommandValues<Options>;
    readonly positionals: readonly string[];
  }
  | { readonly kind: "help"; readonly text: string }
  | { readonly kind: "refused"; readonly message: string };

/**
 * Reads a command's arguments. Never throws and never exits: an invalid argument is returned as
 * `refused` with one line that names it, and for an unknown flag suggests the most similar one.
 */
export function readCommandLine<const Options extends Record<string, CommandOption>>(
  spec: CommandSpec<Options>,
  args: readonly string[],
): CommandLine<Options> {
  if (args.includes("--help") || args.includes("-h")) {
    return { kind: "help", text: helpText(spec) };
  }
  try {
    const { values, positionals } = parseArgs({
      args: args.map(asPositional),
      options: Object.fromEntries(
        Object.entries(spec.options).map(([name, { type, short }]) => [
          name,
          short === undefined ? { type } : { type, short },
        ]),
      ),
      allowPositionals: spec.positionals !== undefined,
      strict: true,
    });
    const complete = Object.fromEntries(
      Object.entries(spec.options).map(([name, { type }]) => [
        name,
        values[name] ?? (type === "boolean" ? false : undefined),
      ]),
    );
    // parseArgs has checked each value against the option's type.
    return { kind: "run", values: complete as CommandValues<Options>, positionals };
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(/\.\s|\n/, 1)[0] : String(error);
    const message = [`${reason}.`, suggestion(spec, error), `See ${spec.name} --help`];
    return { kind: "refused", message: message.filter(Boolean).join(" ") };
  }
}

/** No flag has a space or a line break in its name: a text with one may begin with an SQL comment. */
function asPositional(arg: string): string {
  return /^--(\s|[^=]*\n)/.test(arg) ? `\n${arg}` : arg;
}

/** The flag that an unknown one was probably meant to be, as a question; empty if none is similar. */
function suggestion(spec: CommandSpec<Record<string, CommandOption>>, error: unknown): string {
  if (!(error instanceof Error)) return "";
  const unknown = /^Unknown option '--([^'=]+)/.exec(error.message)?.[1];
  if (unknown === undefined) return "";
  const [nearest] = nearestNames(unknown, [...Object.keys(spec.options), "help"], 1);
  return nearest === undefined ? "" : `Did you mean --${nearest}?`;
}

function helpText(spec: CommandSpec<Record<string, CommandOption>>): string {
  const flags = Object.entries(spec.options).map(([name, option]) => ({
    flag: `${option.short === undefined ? "" : `-${option.short}, `}--${name}${
      option.type === "string" ? ` ${option.placeholder ?? "VALUE"}` : ""
    }`,
    help: option.help,
  }));
  flags.push({ flag: "--help", help: "Show this help." });
  const width = Math.max(...flags.map(({ flag }) => flag.length));
  return [
    `${spec.name} [options]${spec.positionals === undefined ? "" : ` ${spec.positionals}`}`,
    "",
    spec.summary,
    "",
    ...flags.map(({ flag, help }) => `  ${flag.padEnd(width)}  ${help}`),
  ].join("\n");
}
