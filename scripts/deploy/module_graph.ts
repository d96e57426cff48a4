import { fileURLToPath } from "node:url";
import { join, relative } from "node:path";
import { z } from "../../shared/vendor/zod.js";
import { FULL_LOCK } from "../locks/lock_files.ts";
import { PROJECT_ROOT } from "../project_root.ts";

const RESOLVED = z.object({ specifier: z.string().optional() });

const DENO_INFO = z.object({
  modules: z.array(z.object({
    specifier: z.string(),
    error: z.string().optional(),
    dependencies: z.array(z.object({
      specifier: z.string(),
      code: RESOLVED.optional(),
      type: RESOLVED.optional(),
      isDynamic: z.boolean().optional(),
    })).optional(),
  })),
});

type Dependency = NonNullable<
  z.infer<typeof DENO_INFO>["modules"][number]["dependencies"]
>[number];

/** An import at runtime, not of types only. */
export interface RuntimeImport {
  /** A path relative to the root, or a specifier such as `npm:yaml@2.9.1` or `node:crypto`. */
  readonly target: string;
  /** Whether it is an `import()`, which loads when the code runs it, not with the module. */
  readonly isDynamic: boolean;
}

/** A module of the project and its imports, with paths relative to the root. */
export interface ProjectModule {
  readonly path: string;
  /** The project's modules that it imports, for code or types. */
  readonly imports: readonly string[];
  readonly runtimeImports: readonly RuntimeImport[];
}

/**
 * Returns the module and all project modules that it imports, directly or not, as Deno resolves
 * them.
 *
 * @throws Error when Deno cannot resolve a module.
 */
export async function moduleGraph(projectRoot: string, entry: string): Promise<ProjectModule[]> {
  // The graph includes the packages of types. A copy of their lock file, because Deno removes from it
  // what the configuration nearest to the entry does not name.
  const lock = await Deno.makeTempFile();
  await Deno.copyFile(join(PROJECT_ROOT, FULL_LOCK), lock);
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", `--lock=${lock}`, entry],
    cwd: projectRoot,
  }).output();
  await Deno.remove(lock);
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  const { modules } = DENO_INFO.parse(JSON.parse(new TextDecoder().decode(stdout)));
  const broken = modules.find((module) => module.error !== undefined);
  if (broken !== undefined) throw new Error(`${broken.specifier}: ${broken.error}`);

  const targetOf = (specifier: string) =>
    specifier.startsWith("file:") ? relative(projectRoot, fileURLToPath(specifier)) : specifier;
  return modules.filter((module) => module.specifier.startsWith("file:"))
    .map(({ specifier, dependencies = [] }) => ({
      path: targetOf(specifier),
      imports: dependencies.map((dependency) => resolved(dependency))
        .filter((target) => target.startsWith("file:")).map(targetOf),
      runtimeImports: dependencies.filter(({ code }) => code?.specifier !== undefined)
        .map((dependency) => ({
          target: targetOf(resolved(dependency)),
          isDynamic: dependency.isDynamic ?? false,
        })),
    }));
}

function resolved({ specifier, code, type }: Dependency): string {
  return code?.specifier ?? type?.specifier ?? specifier;
}

/**
 * Returns paths and specifiers that load with `entry`. With `includeDynamic`, also those that
 * `import()` may load later, which a bundler embeds.
 */
export function reachedFrom(
  entry: string,
  modules: readonly ProjectModule[],
  options: { readonly includeDynamic: boolean },
): Set<string> {
  const moduleAt = new Map(modules.map((module) => [module.path, module]));
  const reached = new Set<string>();
  const waiting = [entry];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    for (const { target, isDynamic } of moduleAt.get(path)?.runtimeImports ?? []) {
      if (options.includeDynamic || !isDynamic) waiting.push(target);
    }
  }
  return reached;
}
