import { waitFor } from "../../scripts/wait_for.ts";
import type { PageElement } from "../deps.ts";

/** Waits until a page has a text. */
export async function untilShown(root: PageElement, expected: string | RegExp): Promise<void> {
  const isShown = () => {
    const text = root.textContent ?? "";
    return typeof expected === "string" ? text.includes(expected) : expected.test(text);
  };
  await waitFor(isShown, { what: `${expected}` }).catch((error) => {
    throw new Error(`${error.message}; the page is ${root.innerHTML.slice(0, 2_000)}`);
  });
}

/** Writes into a field as a user does, so that React learns of it. */
export function write(root: PageElement, selector: string, text: string): void {
  const field = root.querySelector(selector);
  if (field === null) throw new Error(`No ${selector} in ${root.innerHTML}`);
  const setValue = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value")?.set;
  setValue?.call(field, text);
  const page = field.ownerDocument.defaultView;
  if (page !== null) field.dispatchEvent(new page.Event("input", { bubbles: true }));
}
