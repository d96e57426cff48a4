import { z } from "../../shared/vendor/zod.js";
import { lockedClosure } from "./locked_closure.ts";

const LOCK = z.looseObject({
  specifiers: z.record(z.string(), z.string()),
  workspace: z.object({ dependencies: z.array(z.string()) }),
});

/**
 * Returns the part of the full lock file that the commands need, as Deno writes it.
 *
 * @param pins The modules that import the packages of the commands.
 */
export function commandsLock(fullLock: string, pins: readonly string[]): string {
  const { specifiers, workspace } = LOCK.parse(JSON.parse(fullLock));
  const imported = new Set(
    pins.flatMap((source) => [...source.matchAll(/(?:import\(|from )"(npm:@?[^@"]+@[^/"]+)/g)])
      .map(([, specifier = ""]) => specifier),
  );
  const roots = Object.keys(specifiers)
    .filter((name) => imported.has(name) || workspace.dependencies.includes(name));
  const closure = JSON.parse(lockedClosure(fullLock, roots));
  return `${JSON.stringify({ ...closure, workspace }, null, 2)}\n`
    .replaceAll(/"(os|cpu)": \[\s+("\w+")\s+\]/g, '"$1": [$2]');
}
