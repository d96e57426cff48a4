const MODIFIER = /mac|iphone|ipad/i.test(navigator.userAgent) ? "⌘" : "Ctrl ";

/** A key as the keyboard of this device names it: `mod+k` is `Ctrl K` or `⌘K`. */
export function keyName(key: string): string {
  const [modifier, pressed] = key.split("+");
  if (modifier !== "mod" || pressed === undefined) return key;
  return MODIFIER + (pressed.length === 1 ? pressed.toUpperCase() : pressed);
}
