import { ENV_VARIABLES } from "../../../shared/platform/config/env_variables.ts";
import { MODEL_VARIABLES, STACK_VARIABLES } from "../../environment/stack_variables.ts";
import { nameToVariable } from "../../../shared/platform/values/name_to_slug.ts";

/** Names that the platform itself has a meaning for, such as the keys of providers. */
const PLATFORM_NAMES: ReadonlySet<string> = new Set(
  [ENV_VARIABLES, STACK_VARIABLES, MODEL_VARIABLES].flatMap((variables) => Object.keys(variables)),
);

/** A secret that something of the project sends. */
export interface SentSecret {
  readonly name: string;
  readonly host: string;
}

/**
 * The secrets of a project, so that no document or command that is imported gets one that is meant
 * for another host by choosing its name.
 */
export class ProjectSecrets {
  readonly #hosts = new Map<string, Set<string>>();
  readonly #variables: ReadonlySet<string>;

  /**
   * @param sent Those of its tools and servers.
   * @param variables The names in its `.env`.
   */
  constructor(sent: readonly SentSecret[], variables: Iterable<string>) {
    this.#variables = new Set(variables);
    for (const { name, host } of sent) this.add(name, host);
  }

  /** Notes that a tool sends a secret to a host. */
  add(name: string, host: string): void {
    this.#hosts.set(name, (this.#hosts.get(name) ?? new Set()).add(host));
  }

  /**
   * Why an imported tool must not send a secret to a host; null if it may.
   *
   * @param isChosen The user chose the name with `--secret`.
   */
  problemOf(name: string, host: string, isChosen: boolean): string | null {
    const hosts = this.#hosts.get(name);
    if (hosts?.has(host)) return null;
    const other = `pass --secret with another name, such as ${secretNameOf(host, "API_KEY")}`;
    if (hosts !== undefined) {
      return `its secret ${name} is sent to ${[...hosts].join(", ")}, not to ${host}; ${other}`;
    }
    if (PLATFORM_NAMES.has(name)) return `its secret ${name} is one of the platform; ${other}`;
    if (isChosen || !this.#variables.has(name)) return null;
    return `its secret ${name} is in .env and may be meant for another host than ${host}; ` +
      `pass --secret ${name} if it is meant for this one, otherwise another name`;
  }
}

/** The name of a secret for a host, such as `API_EXAMPLE_COM_TOKEN`: no other host gets it. */
export function secretNameOf(host: string, kind: "API_KEY" | "TOKEN" | "BASIC_AUTH"): string {
  return `${nameToVariable(host)}_${kind}`;
}
