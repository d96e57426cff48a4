import { answerOfCallback, toConfirmation } from "./confirmation.ts";
import type { ConnectionStore } from "./connection_store.ts";
import { hashState } from "./hash_state.ts";

/**
 * Nothing of what stands in the address is to be kept or told to anybody. Plain text, since hosted
 * edge functions serve no pages, and nothing in it can run.
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
 * Answers the browser that an authorization server sends back: on to the page that the user came
 * from, with what it has to confirm in the fragment, which no server sees; or the same as a text.
 * Nothing is taken up yet.
 *
 * @param issuerId Of the address that the browser came to.
 */
export async function answerBrowser(
  issuerId: string,
  query: URLSearchParams,
  store: Pick<ConnectionStore, "find">,
): Promise<Response> {
  const request = await store.find(await hashState(query.get("state") ?? ""));
  if (request === null) {
    return page(400, "This authorisation has been used or has expired. Begin again in your app.");
  }
  const { return_to: returnTo, redirect_url: redirectUrl } = request;
  if (!redirectUrl.endsWith(`/callback/${issuerId}`)) {
    return page(400, "Another server answered than the one that was asked. Nothing was connected.");
  }
  const answer = answerOfCallback(query);
  if (answer === null) {
    const error = /^[a-z_]{1,60}$/.exec(query.get("error") ?? "")?.[0] ?? "invalid_answer";
    if (returnTo !== null) return redirect(returnTo, "error", error);
    return page(400, `The authorisation was not given (${error}). You can close this page.`);
  }
  const confirmation = toConfirmation(answer);
  if (returnTo !== null) return redirect(returnTo, "confirmation", confirmation);
  return page(
    200,
    "One step is left. If you began this yourself, give this text to the app where you did, " +
      `within ten minutes, and to nobody else:\n\n${confirmation}\n`,
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
