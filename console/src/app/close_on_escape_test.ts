import { afterEach, expect, test } from "vitest";
import { effectScope } from "vue";
import { closeOnEscape } from "./close_on_escape.ts";

afterEach(() => {
  document.body.replaceChildren();
});

/** Presses Escape in an element, and returns how often the panel was closed. */
function closedBy(html: string, selector: string): number {
  let closed = 0;
  const scope = effectScope();
  scope.run(() => closeOnEscape(() => closed++));
  document.body.innerHTML = html;
  const press = () =>
    document.querySelector(selector)?.dispatchEvent(
      new KeyboardEvent("keydown", { key: "Escape", bubbles: true }),
    );
  press();
  scope.stop();
  press();
  return closed;
}

test("Escape closes a panel from anywhere on the page, while it is there", () => {
  expect(closedBy("<ul role='tree' tabindex='0'></ul><aside></aside>", "ul")).toBe(1);
  expect(closedBy("<p></p>", "body")).toBe(1);
});

test("a dialog above the panel closes alone", () => {
  expect(closedBy("<div role='dialog'><button></button></div>", "button")).toBe(0);
  expect(closedBy("<div role='dialog'></div>", "body")).toBe(0);
});

test("Escape clears a search before it closes the panel", () => {
  const search = (text: string) => `<input type="search" placeholder="Search" value="${text}">`;
  expect(closedBy(search("slow"), "input")).toBe(0);
  expect(closedBy(search(""), "input")).toBe(1);
});
