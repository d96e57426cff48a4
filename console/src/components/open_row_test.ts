import { afterEach, expect, test, vi } from "vitest";
import { openRow } from "./open_row.ts";

afterEach(() => {
  vi.unstubAllGlobals();
  document.body.replaceChildren();
});

/** A row, and the events that its link gets. */
function rowWithLink() {
  document.body.innerHTML = `<table><tbody><tr>
    <td class="choose"><input type="checkbox"></td>
    <td><a href="#/jobs/1">writer</a><p>text</p></td>
  </tr></tbody></table>`;
  const row = document.querySelector("tr") as HTMLElement;
  const got: string[] = [];
  row.querySelector("a")?.addEventListener("click", (event) => {
    event.preventDefault();
    got.push(`click${event.ctrlKey ? " ctrl" : ""}${event.shiftKey ? " shift" : ""}`);
  });
  for (const type of ["click", "auxclick"] as const) row.addEventListener(type, openRow);
  row.addEventListener("keydown", openRow);
  const press = (selector: string, type: string, init: MouseEventInit = {}) =>
    row.querySelector(selector)?.dispatchEvent(new MouseEvent(type, { bubbles: true, ...init }));
  const pressEnter = (selector: string) =>
    row.querySelector(selector)?.dispatchEvent(
      new KeyboardEvent("keydown", { key: "Enter", bubbles: true }),
    );
  return { row, got, press, pressEnter };
}

test("a click anywhere in a row opens its link, with the keys and the button that were pressed", () => {
  const { got, press } = rowWithLink();

  press("p", "click");
  press("p", "click", { ctrlKey: true });
  press("p", "click", { shiftKey: true });
  press("p", "auxclick", { button: 1 });
  press("p", "auxclick", { button: 2 });

  // The middle button opens a tab as Ctrl does; the right one opens the menu.
  expect(got).toEqual(["click", "click ctrl", "click shift", "click ctrl"]);
});

test("Enter opens the row of the focused checkbox, and a focused link once", () => {
  const { got, pressEnter } = rowWithLink();

  pressEnter("input");
  // The browser itself clicks the link after this.
  pressEnter("a");

  expect(got).toEqual(["click"]);
});

test("the checkbox, its cell and the link do only what they do, and selecting text opens nothing", () => {
  const { got, press } = rowWithLink();

  press("input", "click");
  press(".choose", "click");
  press("a", "click");
  expect(got).toEqual(["click"]);

  vi.stubGlobal("getSelection", () => ({ isCollapsed: false }));
  press("p", "click");
  expect(got).toEqual(["click"]);
});
