/** The console's port lies this far behind the API's: Studio's place. */
const PORTS_BEHIND_API = 2;

/** Where the console of a local stack is served. */
export function consolePort(apiUrl: string): number {
  return Number(new URL(apiUrl).port) + PORTS_BEHIND_API;
}
