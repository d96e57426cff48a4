import { connectionReason } from "../errors/explain_error.ts";
import type { Manifest } from "../project/manifest.ts";
import type { Check } from "./check.ts";

const TIMEOUT_MS = 30_000;

/**
 * Checks that the functions of an installation are deployed at a project's address.
 *
 * @param deploy What deploys them, for the remedy.
 */
export async function checkEndpoints(
  url: string,
  { functions }: Manifest,
  deploy: string,
): Promise<Check[]> {
  const unreachable = await reachProblem(url);
  if (unreachable !== null) {
    const remedy = "Correct the address, or start the project.";
    return [{ claim: `A project answers at ${url}`, problem: unreachable, remedy }];
  }
  const namesByProblem = new Map<string, string[]>();
  for (const name of Object.values(functions)) {
    const problem = await problemOf(`${url}/functions/v1/${name}`);
    if (problem !== null) {
      namesByProblem.set(problem, [...namesByProblem.get(problem) ?? [], name]);
    }
  }
  const problems = [...namesByProblem].map(([problem, names]) => `${names.join(", ")}: ${problem}`);
  return [{
    claim: "All functions are deployed",
    problem: problems.length === 0 ? null : problems.join("; "),
    remedy: `Check that ${url} is your Supabase project. If it is: ${deploy}`,
  }];
}

/** Why nothing answers at the address; null if something does. */
async function reachProblem(url: string): Promise<string | null> {
  try {
    await request(url);
    return null;
  } catch (error) {
    const reason = connectionReason(error);
    if (reason === null) throw error;
    return reason;
  }
}

/** Each function answers a request without a key, with a refusal that has a request's id. */
async function problemOf(url: string): Promise<string | null> {
  const { status, headers, text } = await request(url);
  if (headers.has("x-request-id") && status < 500) return null;
  return `${status} ${text.slice(0, 120).replaceAll(/\s+/g, " ").trim()}`;
}

async function request(url: string) {
  const answer = await fetch(url, { method: "POST", signal: AbortSignal.timeout(TIMEOUT_MS) });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}
