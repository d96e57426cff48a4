/** Headers of every file of the console, in addition to the policy. */
export const CONSOLE_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin-allow-popups",
  "cross-origin-resource-policy": "same-origin",
} as const;

/** A rule that works only in a header; a `<meta>` element ignores it. */
const FRAME_RULE = "frame-ancestors 'none'";

/**
 * Returns the console's policy: it may load and connect to only its own files and the project, and
 * allows no inline script or style and no code from strings.
 */
export function contentSecurityPolicy(
  apiUrl: string,
  { as }: { readonly as: "header" | "meta" },
): string {
  const { origin } = new URL(apiUrl);
  const rules = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // The page shows files of jobs as blobs.
    "img-src 'self' blob: data:",
    "font-src 'self'",
    `connect-src 'self' ${origin} ${origin.replace(/^http/, "ws")}`,
    "form-action 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types vue dompurify",
  ];
  return [...rules, ...(as === "header" ? [FRAME_RULE] : [])].join("; ");
}
