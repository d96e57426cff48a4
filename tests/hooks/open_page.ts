import { waitFor } from "../../scripts/wait_for.ts";
import { loadHappyDom, type PageElement, type PageEvent, type Window } from "../deps.ts";

/** The names that frameworks read from the global object. */
const GLOBALS = [
  "document",
  "window",
  "Element",
  "HTMLElement",
  "HTMLIFrameElement",
  "localStorage",
  "location",
  "MathMLElement",
  "Node",
  "ShadowRoot",
  "SVGElement",
] as const;

/** A page without a browser. */
export interface TestPage extends AsyncDisposable {
  readonly root: PageElement;
  /** The text of the element with this id; empty without one. */
  text(id: string): string;
  /** Waits until the element with this id has the text. */
  untilText(id: string, expected: string | RegExp): Promise<void>;
  /** A click of a user, to dispatch. */
  clickEvent(): PageEvent;
}

/** One for the process, because frameworks keep the document that they find when they are loaded. */
let opened: Promise<Window> | undefined;

async function openWindow(): Promise<Window> {
  const { Window } = await loadHappyDom();
  return new Window({ url: "http://127.0.0.1/" });
}

/** Opens an empty page whose `document` is global until its end. */
export async function openPage(): Promise<TestPage> {
  const page = await (opened ??= openWindow());
  const before = GLOBALS.map((name) =>
    [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const
  );
  for (const name of GLOBALS) {
    const value = Reflect.get(page, name) ?? page;
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  const { document } = page;
  const root = document.createElement("div");
  document.body.append(root);
  const text = (id: string) => document.getElementById(id)?.textContent ?? "";
  return {
    root,
    text,
    untilText: async (id, expected) => {
      const isReached = () =>
        typeof expected === "string" ? text(id) === expected : expected.test(text(id));
      await waitFor(isReached, { what: `the text ${expected} in ${id}` }).catch((error) => {
        throw new Error(`${error.message}; the page is ${root.innerHTML.slice(0, 2_000)}`);
      });
    },
    clickEvent: () => new page.MouseEvent("click", { bubbles: true }),
    async [Symbol.asyncDispose]() {
      root.remove();
      await page.happyDOM.abort();
      page.localStorage.clear();
      for (const [name, descriptor] of before) {
        if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
        else Object.defineProperty(globalThis, name, descriptor);
      }
    },
  };
}
