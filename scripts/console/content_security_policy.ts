/** Headers beside the policy that every file of the console is served with. */
export const CONSOLE_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin-allow-popups",
} as const;

/** What only a header can say; a `<meta>` element ignores it. */
const FRAME_RULE = "frame-ancestors 'none'";

/**
 * What the console's page may load and where it may connect: its own files and the project, no
 * inline script or style, no string that becomes code.
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
    // Files of jobs are shown as blobs.
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
