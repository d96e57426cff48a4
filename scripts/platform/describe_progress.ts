import { BOOT_STEPS, type BootProgress } from "../../stack/boot.ts";

/** Describes how far a start is, in one line: `[1/4] Opening the database: creating it, 40 %`. */
export function describeProgress({ step, doing, done }: BootProgress): string {
  const position = `[${BOOT_STEPS.indexOf(step) + 1}/${BOOT_STEPS.length}]`;
  if (doing === null) return `${position} ${step} …`;
  return `${position} ${step}: ${doing}${done === null ? " …" : `, ${Math.floor(100 * done)} %`}`;
}
