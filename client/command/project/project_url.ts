import { CommandError } from "../errors/command_error.ts";

/**
 * The address of a project, without a path.
 *
 * @param source Where it comes from, such as `--url`.
 * @throws CommandError `URL_INVALID`
 */
export function readProjectUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol)) return url.origin;
  throw new CommandError(
    "URL_INVALID",
    `Cannot use the project of ${source}: "${text}" is not the address of a website`,
    "Pass https://<ref>.supabase.co, with the ref of the project, or the address that dev printed.",
  );
}

/** An address, with what it is where that is known. */
export function projectLabel(url: string): string {
  const { hostname } = new URL(url);
  const ref = /^([a-z]{20})\.supabase\.(?:co|in|red)$/.exec(hostname)?.[1];
  if (ref !== undefined) return `${url} (hosted project ${ref})`;
  return /^(localhost|127\..*|\[::1\])$/.test(hostname) ? `${url} (on this machine)` : url;
}
