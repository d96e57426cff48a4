import { CommandError } from "../cli/run_command.ts";

/** Supabase's port for a local API; its database has the next one there, too. */
const DEFAULT_PORT = 54321;

/** Where the stack listens; 0: any free port. */
export interface StackPorts {
  readonly api: number;
  readonly database: number;
}

/**
 * The ports for the text of `--port`, or the default ones.
 *
 * @throws CommandError for a text that is not a port with room for the next one.
 */
export function choosePorts(text: string | undefined): StackPorts {
  const api = text === undefined ? DEFAULT_PORT : Number(text);
  if (text !== undefined && (!/^\d+$/.test(text) || api >= 65_535)) {
    throw new CommandError(`Cannot use --port ${text}: give a number from 0 (any) to 65534`);
  }
  return { api, database: api === 0 ? 0 : api + 1 };
}
