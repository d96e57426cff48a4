import { type Browser, loadPlaywright } from "../deps.ts";

/** The first is Chromium without a window, which takes less than half of the CPU time. */
const PATHS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/** Starts the machine's Chromium. @throws Error with the install command when there is none. */
export async function launchChromium(): Promise<Browser> {
  const wanted = Deno.env.get("CHROMIUM_PATH");
  const paths = wanted === undefined ? PATHS : [wanted];
  const executablePath = await firstInstalled(paths);
  if (executablePath === undefined) {
    throw new Error(
      `Cannot start the browser: there is no ${paths.join(" or ")}. Install it with ` +
        "`apt-get install -y --no-install-recommends chromium-headless-shell`, or set " +
        "CHROMIUM_PATH to another one.",
    );
  }
  const { chromium } = await loadPlaywright();
  return await chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

async function firstInstalled(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    if (await Deno.stat(path).then(() => true, () => false)) return path;
  }
  return undefined;
}
