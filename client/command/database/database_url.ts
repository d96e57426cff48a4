import { CommandError } from "../errors/command_error.ts";

/**
 * The URL of a database, checked. Messages never repeat it, because it has a password.
 *
 * @param source Where it comes from, such as `--db`.
 * @throws CommandError `URL_INVALID`
 */
export function readDatabaseUrl(text: string, source: string): string {
  const problem = problemOf(text);
  if (problem === null) return text;
  throw new CommandError(
    "URL_INVALID",
    `Cannot use the database of ${source}: ${problem}`,
    "Pass postgresql://postgres.<ref>:<password>@<host>:5432/postgres: in the dashboard under " +
      "Connect, Session pooler. Percent-encode special characters of the password (@ is %40).",
  );
}

function problemOf(text: string): string | null {
  if (!URL.canParse(text)) return "it is not a URL";
  const { protocol, hostname, username, password } = new URL(text);
  if (!/^postgres(ql)?:$/.test(protocol)) return `it begins with ${protocol}//, not postgresql://`;
  if (hostname === "") return "it names no host";
  try {
    decodeURIComponent(username + password);
    return null;
  } catch {
    return "its password has a % that is not part of an encoded character";
  }
}

/** Host, port and name of a database, without its password. */
export function databaseLabel(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}:${port || "5432"}${pathname === "/" ? "" : pathname}`;
}
