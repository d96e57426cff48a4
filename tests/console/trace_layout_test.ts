import assert from "node:assert/strict";
import type { Page } from "../deps.ts";
import { testsSharing } from "../shared_fixture.ts";
import {
  assertAccessible,
  assertFits,
  type ConsoleFixture,
  openConsoleFixture,
  picture,
  type Reader,
} from "./console_fixture.ts";
import { addTracedJob } from "./traced_job.ts";

const consoleTest = testsSharing(openConsoleFixture);
const WIDTHS = [360, 768, 1_024, 1_440];

/**
 * What is wrong with the boxes of a trace: cells that overlap, texts that leave their cell without
 * an ellipsis, and bars without room.
 */
const BOX_PROBLEMS = `(() => {
  const problems = [];
  const cells = [...document.querySelectorAll("[data-trace-row], [data-trace-columns]")]
    .flatMap((row) => [...row.children].map((cell) => ({ row, cell, box: cell.getBoundingClientRect() })))
    .filter(({ box }) => box.width > 0 && box.height > 0);
  const nameOf = ({ row, cell }) => row.innerText.slice(0, 40) + " / " + cell.className;
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  cells.forEach((one, index) => {
    for (const other of cells.slice(index + 1)) {
      const isScrolledUnder = one.row !== other.row && !one.row.matches("[data-trace-row]");
      if (!isScrolledUnder && meet(one.box, other.box)) {
        problems.push(nameOf(one) + " overlaps " + nameOf(other));
      }
    }
    const isCut = getComputedStyle(one.cell).textOverflow === "ellipsis";
    const texts = document.createTreeWalker(one.cell, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      if (text.parentElement.closest(".visually-hidden") !== null) continue;
      const range = document.createRange();
      range.selectNodeContents(text);
      for (const box of range.getClientRects()) {
        const leaves = box.top < one.box.top - 1 || box.bottom > one.box.bottom + 1 ||
          !isCut && (box.left < one.box.left - 1 || box.right > one.box.right + 1);
        if (leaves) problems.push("The text of " + nameOf(one) + " leaves its cell");
      }
    }
    if (one.cell.matches(".lane") && one.box.width < 120) {
      problems.push(nameOf(one) + " has " + one.box.width + " px");
    }
  });
  return [...new Set(problems)].slice(0, 10);
})()`;

async function assertBoxes(page: Page, what: string): Promise<void> {
  // The virtual list measures itself in the frame after a change.
  await page.evaluate(
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
  );
  assert.ok(await page.locator("[data-trace-row]").count() > 3, `${what} shows rows`);
  assert.deepEqual(await page.evaluate(BOX_PROBLEMS), [], what);
}

const RESULT = '{"orders": [{"order": "O-9001", "placed_by": "Ada"}]}';

async function openJob(
  fixture: ConsoleFixture,
  reader: Reader,
  { name, query = "" }: { readonly name: string; readonly query?: string },
): Promise<string> {
  const id = await addTracedJob(fixture.platform.sql, await reader.signUp(name), RESULT);
  await reader.go(`/jobs/${id}${query}`);
  await reader.page.locator("[data-trace-row]").first().waitFor();
  return id;
}

consoleTest("no cell of a trace overlaps another beside an open step", async (fixture) => {
  for (const scheme of ["light", "dark"] as const) {
    await using reader = await fixture.open({ scheme });
    const { page } = reader;
    await openJob(fixture, reader, { name: `boxes-${scheme}` });
    await page.getByRole("treeitem").getByText("shop · orders").first().click();
    await page.getByRole("heading", { name: "Arguments" }).waitFor();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      await page.evaluate("scrollTo(0, 0)");
      await assertBoxes(page, `the trace at ${width} px`);
      await assertFits(page, `the job at ${width} px`);
      await picture(page, `trace_step_${width}_${scheme}`);
    }
    await assertAccessible(page, `a trace beside a step, ${scheme}`);
    await page.getByRole("button", { name: "Close panel" }).click();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      await assertBoxes(page, `the trace without a step at ${width} px`);
      await picture(page, `trace_${width}_${scheme}`);
    }
    assert.deepEqual(reader.offences, []);
  }
});

consoleTest(
  "the keyboard and the pointer move the separator, and its place is remembered",
  async (fixture) => {
    await using reader = await fixture.open({ width: 1_440 });
    const { page } = reader;
    await openJob(fixture, reader, { name: "mover" });
    await page.getByRole("treeitem").getByText("I fetch data.").first().click();
    const separator = page.getByRole("separator", { name: "Width of the trace" });
    const placeOf = async () => Number(await separator.getAttribute("aria-valuenow"));
    const traceWidth = async () => (await page.getByRole("tree").boundingBox())?.width ?? 0;

    const before = { place: await placeOf(), width: await traceWidth() };
    await separator.focus();
    await page.keyboard.press("ArrowLeft");
    assert.equal(await placeOf(), before.place - 2);
    assert.ok(await traceWidth() < before.width);
    for (const key of ["Home", "End"]) {
      await page.keyboard.press(key);
      await assertBoxes(page, `the trace after ${key}`);
      await picture(page, `trace_split_${key.toLowerCase()}`);
    }
    const box = await separator.boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + 6, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x - 200, box.y + 60, { steps: 4 });
    await page.mouse.up();
    const dragged = await placeOf();
    assert.ok(dragged < 75 && dragged > 40, `the pointer moves it to ${dragged}`);
    await page.reload();
    await separator.waitFor();
    assert.equal(await placeOf(), dragged);
    await separator.dblclick();
    assert.equal(await placeOf(), before.place);
    assert.deepEqual(reader.offences, []);
  },
);

consoleTest(
  "a search finds what a tool said, and shows no invented time without a hit",
  async (fixture) => {
    await using reader = await fixture.open({ width: 1_440 });
    const { page } = reader;
    await openJob(fixture, reader, { name: "searcher" });
    const search = page.getByRole("searchbox", { name: "Search trace" });

    await search.fill('"order": "o-9001"');
    await page.getByRole("treeitem").getByText("shop · orders").first().waitFor();
    assert.equal(await page.getByRole("treeitem").getByText("I fetch data.").count(), 0);
    await page.getByRole("treeitem").getByText("shop · orders").first().click();
    await page.getByText("O-9001").first().waitFor();
    await search.fill("zzz");
    await page.getByText("No matching steps.").waitFor();
    assert.doesNotMatch(await page.locator("main").innerText(), /Infinity|NaN/);
    await picture(page, "trace_search_without_hit");
    assert.deepEqual(reader.offences, []);
  },
);
