import { gzipSync } from "node:zlib";
import type { Page } from "../../deps.ts";

const BYTES_PER_KB = 1_000;

/** Kilobytes of all files of the console that the page has loaded so far, each gzipped. */
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
