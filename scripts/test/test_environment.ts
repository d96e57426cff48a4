/** `FORCE_COLOR` overrides `NO_COLOR`, and some programs behave differently where `CI` is set. */
const REMOVED = ["FORCE_COLOR", "CLICOLOR_FORCE", "CI"];

/**
 * Returns the environment of a test process: the caller's own without what changes how programs
 * print, so that a test that reads their output passes in any terminal and on a CI machine.
 */
export function testEnvironment(
  own: Readonly<Record<string, string>>,
  added: Readonly<Record<string, string>>,
): Record<string, string> {
  const kept = Object.entries(own).filter(([name]) => !REMOVED.includes(name));
  return { ...Object.fromEntries(kept), NO_COLOR: "1", ...added };
}
