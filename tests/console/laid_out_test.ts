import assert from "node:assert/strict";
import { addAgent } from "../e2e/operator.ts";
import { call, complete, scriptTurns } from "../e2e/script.ts";
import { testsSharing } from "../shared_fixture.ts";
import { assertAccessible, assertFits, openConsoleFixture, picture } from "./console_fixture.ts";
import { startJob, untilChip } from "./job_steps.ts";

const consoleTest = testsSharing(openConsoleFixture);

const DRAFT = `# Quarterly review

Revenue grew **14 %**. <img src=x onerror=alert(1)>

| country | orders |
|:--------|-------:|
| DE      | 1,204  |

- [x] audited
- [ ] published`;

consoleTest("a review lays out Markdown and JSON text of its context", async (fixture) => {
  const { sql, stack } = fixture.platform;
  const context = {
    draft: DRAFT,
    request: '{"customer":1610521604143693812,"reasons":["late","twice"]}',
    formula: "2 * 3 * 4",
  };
  stack.models.addAgent(
    scriptTurns(
      "laying-out",
      call("request_human_review", { question: "Publish it?", context }),
      complete("Published"),
    ),
  );
  await addAgent(sql, { slug: "laying-out" });
  await using reader = await fixture.open({ width: 1440 });
  const { page } = reader;
  await reader.signUp("layouter");
  await startJob(reader, "laying-out", "Write");
  await untilChip(reader, "Needs review");

  await reader.go("/reviews");
  const form = page.locator("form");
  await form.getByRole("heading", { name: "Quarterly review" }).waitFor();
  assert.equal(await form.locator("strong").first().innerText(), "14 %");
  await form.getByRole("cell", { name: "1,204" }).waitFor();
  assert.equal(await form.locator("img").count(), 0);
  // The database sorts the names of the context by their length.
  const names = ["draft", "formula", "request", "customer", "reasons"];
  assert.deepEqual(await form.locator("dt").allInnerTexts(), names);
  await form.getByText("1610521604143693812", { exact: true }).first().waitFor();
  await form.getByText("2 * 3 * 4", { exact: true }).first().waitFor();
  await assertAccessible(page, "a review with Markdown and JSON");
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const width of [1440, 360]) {
      await page.setViewportSize({ width, height: 1_000 });
      await assertFits(page, `the review at ${width} px`);
      await picture(page, `review_markdown_${width}_${scheme}`);
    }
  }
  // The policy of the page reports styles, also those that the sanitizer removes.
  assert.deepEqual(reader.offences, []);
});
