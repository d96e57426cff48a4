import type { Manifest } from "../project/manifest.ts";
import { type Check, nothingIn } from "./check.ts";

const TIMEOUT_MS = 30_000;

/** Checks that the functions of an installation are deployed at a project's address. */
export async function checkEndpoints(url: string, { functions }: Manifest): Promise<Check[]> {
  const missing: string[] = [];
  for (const name of Object.values(functions)) {
    const problem = await problemOf(`${url.replace(/\/+$/, "")}/functions/v1/${name}`);
    if (problem !== null) missing.push(`${name}: ${problem}`);
  }
  return [nothingIn(
    "All functions are deployed",
    missing,
    "Run npx supabase functions deploy --use-api, one deployment at a time.",
  )];
}

/** Each function answers a request without a key, with a refusal that has a request's id. */
async function problemOf(url: string): Promise<string | null> {
  try {
    const answer = await fetch(url, { method: "POST", signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await answer.text();
    if (answer.headers.has("x-request-id") && answer.status < 500) return null;
    return `${answer.status} ${text.slice(0, 120)}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
