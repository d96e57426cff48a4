/** The console's port is this much above the API's, like Studio's port in Supabase. */
const API_PORT_OFFSET = 2;
const LAST_PORT = 65_535;

/** Returns the console's port of a local stack, or 0 (any free port) if it would be too high. */
export function consolePort(apiUrl: string): number {
  const port = Number(new URL(apiUrl).port) + API_PORT_OFFSET;
  return port > LAST_PORT ? 0 : port;
}
