import { answerOfCallback, toConfirmation } from "./confirmation.ts";
import type { ConnectionStore } from "./connection_store.ts";
import { sha256Hex } from "../../../../platform/values/sha256_hex.ts";

/**
 * Nothing in the URL may be cached or leaked through a referrer. Plain text, because hosted edge
 * functions do not serve HTML, and nothing in it can run.
 */
const HEADERS = {
  "content-type": "text/plain; charset=utf-8",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; " +
    "form-action 'none'",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/**
 * Responds to the browser that returns from an authorization server: redirects to the page that the
 * user came from, with the confirmation in the fragment, which no server sees; or shows it as text.
 * Nothing is connected yet.
 *
 * @param issuerId The issuer id in the callback's path.
 */
export async function answerBrowser(
  issuerId: string,
  query: URLSearchParams,
  store: Pick<ConnectionStore, "find">,
): Promise<Response> {
  const request = await store.find(sha256Hex(query.get("state") ?? ""));
  if (request === null) {
    return page(
      400,
      "This authorization was already used or has expired. Start again in your app.",
    );
  }
  const { return_to: returnTo, redirect_url: redirectUrl } = request;
  if (!redirectUrl.endsWith(`/callback/${issuerId}`)) {
    return page(
      400,
      "The response came from a different server than expected. Nothing was connected.",
    );
  }
  const answer = answerOfCallback(query);
  if (answer === null) {
    const error = /^[a-z_]{1,60}$/.exec(query.get("error") ?? "")?.[0] ?? "invalid_answer";
    if (returnTo !== null) return redirect(returnTo, "error", error);
    return page(400, `The authorization was denied (${error}). You can close this page.`);
  }
  const confirmation = toConfirmation(answer);
  if (returnTo !== null) return redirect(returnTo, "confirmation", confirmation);
  return page(
    200,
    "One step is left. If you started this yourself, paste this text into the app where you did, " +
      `within ten minutes. Do not give it to anyone else:\n\n${confirmation}\n`,
  );
}

function redirect(returnTo: string, name: string, value: string): Response {
  const location = new URL(returnTo);
  location.hash = new URLSearchParams({ [name]: value }).toString();
  return new Response(null, { status: 303, headers: { ...HEADERS, location: location.href } });
}

function page(status: number, text: string): Response {
  return new Response(text, { status, headers: HEADERS });
}
