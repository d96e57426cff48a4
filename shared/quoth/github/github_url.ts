/** A path with each part encoded for a URL; parentheses as well, which would end a Markdown link. */
export function encodePath(path: string): string {
  return path.split("/").map((part) =>
    encodeURIComponent(part).replaceAll("(", "%28").replaceAll(")", "%29")
  ).join("/");
}

/**
 * Where people see the repositories of a REST API: GitHub's own answers at `api.`, a GitHub
 * Enterprise Server below `/api/v3`.
 */
export function webUrlOf(apiUrl: string): string {
  const { protocol, host, pathname } = new URL(apiUrl);
  return `${protocol}//${host.replace(/^api\./, "")}${pathname.replace(/(\/api\/v3)?\/*$/, "")}`;
}
