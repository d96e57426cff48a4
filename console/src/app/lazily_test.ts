import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keptRef } from "./kept_state.ts";
import { lazily, waitingParts } from "./lazily.ts";

const ENTRY = "./assets/index-1.js";
const THIS_RELEASE = `<script type="module" src="${ENTRY}"></script>`;

/** What the server of the console answers; null while it cannot be reached. */
let index: string | null;
const reload = vi.fn();

beforeEach(() => {
  index = THIS_RELEASE;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  // A connected script would be loaded.
  const entry = document.createElement("script");
  entry.setAttribute("src", ENTRY);
  vi.spyOn(document, "querySelector").mockReturnValue(entry);
  vi.stubGlobal("location", { pathname: "/", reload });
  vi.stubGlobal("fetch", () => {
    if (index === null) return Promise.reject(new TypeError("Failed to fetch"));
    return Promise.resolve(new Response(index));
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  reload.mockClear();
});

const missing = () => Promise.reject(new TypeError("No file"));

test("a part waits while the server cannot be reached, and then loads", async () => {
  index = null;
  const loading = lazily(() => index === null ? missing() : Promise.resolve("part"))();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(waitingParts.value).toBe(1);

  index = THIS_RELEASE;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await loading).toBe("part");
  expect(waitingParts.value).toBe(0);
  expect(reload).not.toHaveBeenCalled();
});

test("a part that the same release lacks fails instead of reloading", async () => {
  const failing = expect(lazily(missing)()).rejects.toThrow("No file");
  await vi.advanceTimersByTimeAsync(60_000);
  await failing;
  expect(reload).not.toHaveBeenCalled();
});

test("only a new release reloads, and keeps what was typed", async () => {
  const typed = keptRef("form", "");
  typed.value = "half a sentence";
  index = THIS_RELEASE.replace("index-1", "index-2");
  void lazily(missing)();
  await vi.advanceTimersByTimeAsync(100);
  expect(reload).toHaveBeenCalledOnce();
  // A page that a cache serves again must not reload forever.
  const failing = expect(lazily(missing)()).rejects.toThrow("No file");
  await vi.advanceTimersByTimeAsync(10_000);
  await failing;
  expect(reload).toHaveBeenCalledOnce();

  // The modules of the next page.
  vi.resetModules();
  const next = await import("./kept_state.ts");
  expect(next.keptRef("form", "").value).toBe("half a sentence");
  expect(next.keptRef("form", "").value).toBe("");
});
