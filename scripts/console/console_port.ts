/** The console's port lies this far behind the API's: Studio's place. */
const PORTS_BEHIND_API = 2;
const LAST_PORT = 65_535;

/** Where the console of a local stack is served; 0, any free port, where there is none so high. */
export function consolePort(apiUrl: string): number {
  const port = Number(new URL(apiUrl).port) + PORTS_BEHIND_API;
  return port > LAST_PORT ? 0 : port;
}
