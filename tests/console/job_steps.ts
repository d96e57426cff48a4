import type { Reader } from "./console_fixture.ts";

/** Starts a job as a user does, and returns its id. */
export async function startJob(
  { page, go }: Reader,
  agent: string,
  input: string,
): Promise<string> {
  await go("/jobs/new");
  await page.getByLabel("Agent", { exact: true }).selectOption(agent);
  await page.getByLabel("Input", { exact: true }).fill(input);
  await page.getByRole("button", { name: "Start job" }).click();
  await page.waitForURL(/#\/jobs\/[0-9a-f-]{36}/);
  return page.url().split("/jobs/")[1]?.slice(0, 36) ?? "";
}

/** Waits until the open job shows this status. */
export async function untilChip({ page }: Reader, text: string): Promise<void> {
  await page.locator("header .chip").getByText(text).waitFor();
}
