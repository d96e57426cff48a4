import { gzipSync } from "node:zlib";
import type { Page } from "../../../scripts/deps.ts";

const BYTES_PER_KB = 1_000;

/** Returns the gzipped size in kilobytes of all console files that the page has loaded. */
export async function weighFirstPage(page: Page): Promise<number> {
  const urls = await page.evaluate<readonly string[]>(
    `[location.origin + "/", ...performance.getEntriesByType("resource").map(({ name }) => name)]
      .filter((url) => new URL(url).origin === location.origin)`,
  );
  let bytes = 0;
  for (const url of new Set(urls)) {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    bytes += gzipSync(await response.bytes()).byteLength;
  }
  return bytes / BYTES_PER_KB;
}
