import { withoutTrailing } from "../../../platform/values/without_trailing.ts";

/** A path with each part URL-encoded, including parentheses, which would end a Markdown link. */
export function encodePath(path: string): string {
  return path.split("/").map((part) =>
    encodeURIComponent(part).replaceAll("(", "%28").replaceAll(")", "%29")
  ).join("/");
}

/**
 * The web URL for a REST API URL: GitHub's own API is at `api.`, a GitHub Enterprise Server's below
 * `/api/v3`.
 */
export function webUrlOf(apiUrl: string): string {
  const { protocol, host, pathname } = new URL(apiUrl);
  const path = withoutTrailing(pathname, "/").replace(/\/api\/v3$/, "");
  return `${protocol}//${host.replace(/^api\./, "")}${path}`;
}
