import { readonly, ref } from "vue";
import { storeKeptState } from "./kept_state.ts";

const RETRY_MS = 2_000;
const RELOADED_KEY = "supaswarm.reloaded_at";
/** A file that is still missing this soon after a reload is not in the new release either. */
const RELOAD_INTERVAL_MS = 30_000;
/** Attempts while the server answers: then the file does not exist. */
const MAX_ATTEMPTS = 3;

const waiting = ref(0);
/** How many parts of the page wait for the server of the console. */
export const waitingParts = readonly(waiting);

/**
 * Returns a loader of a part of the page that waits while its server cannot be reached. Only a new
 * release of the console, which lacks the files of this one, reloads the page, and keeps what was
 * typed.
 *
 * @returns a function that throws what `load` throws if the server answers but lacks the file.
 */
export function lazily<Part>(load: () => Promise<Part>): () => Promise<Part> {
  return async () => {
    try {
      return await load();
    } catch {
      waiting.value++;
      try {
        return await loadAgain(load);
      } finally {
        waiting.value--;
      }
    }
  };
}

async function loadAgain<Part>(load: () => Promise<Part>): Promise<Part> {
  for (let attempts = 1;;) {
    const release = await askRelease();
    if (release === "new" && !wasJustReloaded()) return await reload();
    if (release !== "unreachable") attempts++;
    try {
      await loadStylesAgain();
      return await load();
    } catch (error) {
      if (attempts >= MAX_ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** Vite requests the styles of a part once, even if they could not be loaded. */
async function loadStylesAgain(): Promise<void> {
  const links = document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]');
  const missing = [...links].filter(({ sheet }) => sheet === null);
  await Promise.all(missing.map((link) => {
    const again = link.cloneNode() as HTMLLinkElement;
    const isLoaded = new Promise((resolve, reject) => {
      again.addEventListener("load", resolve);
      again.addEventListener("error", () => reject(new Error(`Cannot load ${again.href}`)));
    });
    link.replaceWith(again);
    return isLoaded;
  }));
}

/** Whether the server has another release than this page. */
async function askRelease(): Promise<"same" | "new" | "unreachable"> {
  const entry = document.querySelector('script[type="module"][src]')?.getAttribute("src");
  try {
    const answer = await fetch(location.pathname, { cache: "no-store" });
    if (!answer.ok) return "unreachable";
    return (await answer.text()).includes(`"${entry}"`) ? "same" : "new";
  } catch {
    return "unreachable";
  }
}

/** A cache may still serve the page of the earlier release, which must not reload forever. */
function wasJustReloaded(): boolean {
  return Date.now() - Number(sessionStorage.getItem(RELOADED_KEY) ?? 0) < RELOAD_INTERVAL_MS;
}

/** Never resolves: the next page replaces this one. */
function reload(): Promise<never> {
  storeKeptState();
  sessionStorage.setItem(RELOADED_KEY, String(Date.now()));
  location.reload();
  return new Promise(() => {});
}
