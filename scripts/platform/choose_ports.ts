import { CommandError } from "../cli/run_command.ts";

/** Supabase's default port for a local API. The database uses the next port, as in Supabase. */
const DEFAULT_PORT = 54321;

/** The ports of the stack. 0: any free port. */
export interface StackPorts {
  readonly api: number;
  readonly database: number;
}

/**
 * Parses the value of `--port`, or returns the default ports.
 *
 * @throws CommandError when the text is not a port number, or there is no next port.
 */
export function choosePorts(text: string | undefined): StackPorts {
  const api = text === undefined ? DEFAULT_PORT : Number(text);
  if (text !== undefined && (!/^\d+$/.test(text) || api >= 65_535)) {
    throw new CommandError(
      `Cannot use --port ${text}: use a number from 0 (any free port) to 65534`,
    );
  }
  return { api, database: api === 0 ? 0 : api + 1 };
}
