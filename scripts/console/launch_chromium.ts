import { type Browser, loadPlaywright } from "../deps.ts";

const CHROMIUM = Deno.env.get("CHROMIUM_PATH") ?? "/usr/bin/chromium";

/** Starts the machine's own Chromium. @throws Error that names what to install when there is none. */
export async function launchChromium(): Promise<Browser> {
  const isThere = await Deno.stat(CHROMIUM).then(() => true, () => false);
  if (!isThere) {
    throw new Error(
      `Cannot start the browser: ${CHROMIUM} does not exist. Install it with ` +
        "`apt-get install -y --no-install-recommends chromium`, or name another one in CHROMIUM_PATH.",
    );
  }
  const { chromium } = await loadPlaywright();
  return await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
}
