import { expect, test, vi } from "vitest";

async function keyNameOn(userAgent: string): Promise<(key: string) => string> {
  vi.resetModules();
  vi.stubGlobal("navigator", { userAgent });
  const { keyName } = await import("./key_name.ts");
  vi.unstubAllGlobals();
  return keyName;
}

test.each([
  ["Mozilla/5.0 (X11; Linux x86_64)", "Ctrl K", "Ctrl Enter"],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)", "⌘K", "⌘Enter"],
])("keyName() names the modifier of %s", async (userAgent, letter, enter) => {
  const keyName = await keyNameOn(userAgent);

  expect(keyName("mod+k")).toBe(letter);
  expect(keyName("mod+Enter")).toBe(enter);
  for (const key of ["?", "/", "g", "+", "Escape"]) expect(keyName(key)).toBe(key);
});
