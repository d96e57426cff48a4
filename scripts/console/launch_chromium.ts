import { type Browser, loadPlaywright } from "../deps.ts";

const CHROMIUM = Deno.env.get("CHROMIUM_PATH") ?? "/usr/bin/chromium";

/** Starts the machine's Chromium. @throws Error with the install command when there is none. */
export async function launchChromium(): Promise<Browser> {
  const isInstalled = await Deno.stat(CHROMIUM).then(() => true, () => false);
  if (!isInstalled) {
    throw new Error(
      `Cannot start the browser: ${CHROMIUM} does not exist. Install it with ` +
        "`apt-get install -y --no-install-recommends chromium`, or set CHROMIUM_PATH to another one.",
    );
  }
  const { chromium } = await loadPlaywright();
  return await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
}
