import { onlineManager } from "@tanstack/vue-query";
import { computed, ref } from "vue";

/** How often the console retries an unreachable project. */
const RECHECK_MS = 2_000;

const hasNetwork = ref(navigator.onLine);
const doesAnswer = ref(true);
let healthUrl: string | undefined;
let recheck: ReturnType<typeof setTimeout> | undefined;

/** Whether the project can be reached, and the reason if not. */
export const connection = computed<"online" | "offline" | "unreachable">(() => {
  if (!hasNetwork.value) return "offline";
  return doesAnswer.value ? "online" : "unreachable";
});

/** True while requests and actions can succeed. */
export const isOnline = computed(() => connection.value === "online");

/**
 * Follows the browser's network state and the project's answers; queries pause while it is
 * unreachable.
 */
export function watchConnection(url: string): void {
  healthUrl = url;
  addEventListener("online", () => {
    hasNetwork.value = true;
    void askAgain();
  });
  addEventListener("offline", () => {
    hasNetwork.value = false;
    notifyQueries();
  });
  notifyQueries();
}

/** The browser's `fetch`; it detects when the project stops responding, and keeps request ids. */
export async function watchedFetch(
  input: RequestInfo | URL,
  init?: RequestInit,
): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(input, init);
  } catch (error) {
    if (!isAbort(error) && !init?.signal?.aborted) markUnreachable();
    throw error;
  }
  markReachable();
  return answer.ok ? answer : await withRequestId(answer);
}

/** PostgREST errors lose their headers, so the id is added to the body. */
async function withRequestId(answer: Response): Promise<Response> {
  const requestId = answer.headers.get("x-request-id") ?? answer.headers.get("sb-request-id");
  const isJson = answer.headers.get("content-type")?.includes("json") ?? false;
  if (requestId === null || !isJson) return answer;
  const text = await answer.text();
  let body = text;
  try {
    body = JSON.stringify({ ...JSON.parse(text), request_id: requestId });
  } catch {
    // Any other body is passed on unchanged.
  }
  return new Response(body, answer);
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

function markReachable(): void {
  if (doesAnswer.value) return;
  doesAnswer.value = true;
  notifyQueries();
}

function markUnreachable(): void {
  doesAnswer.value = false;
  notifyQueries();
  scheduleRecheck();
}

function scheduleRecheck(): void {
  if (recheck !== undefined || healthUrl === undefined) return;
  recheck = setTimeout(() => {
    recheck = undefined;
    void askAgain();
  }, RECHECK_MS);
}

async function askAgain(): Promise<void> {
  if (healthUrl === undefined) return;
  try {
    const answer = await fetch(healthUrl, { cache: "no-store" });
    // A gateway that answers 5xx has no running project behind it yet.
    if (answer.status >= 500) throw new Error(`The project answered ${answer.status}`);
    doesAnswer.value = true;
    notifyQueries();
  } catch {
    doesAnswer.value = false;
    notifyQueries();
    if (hasNetwork.value) scheduleRecheck();
  }
}

function notifyQueries(): void {
  onlineManager.setOnline(isOnline.value);
}
