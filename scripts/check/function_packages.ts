import { type ProjectModule, reachedFrom } from "../deploy/module_graph.ts";
import { VENDORED_MODULES, VENDORED_PACKAGES } from "../vendor/vendored_modules.ts";
import { VENDOR_FOLDER } from "../vendor/vendor_files.ts";

/**
 * Finds problems in how a function loads npm packages: a vendored package that is imported from
 * npm, which embeds its whole folder, a vendored module that is loaded at the start but should be
 * loaded on first use, or one that a deployment uploads although only its types are used.
 *
 * @param entry Path of the function's `index.ts`.
 * @param modules All modules that the function imports, directly or not.
 */
export function functionPackageProblems(
  entry: string,
  modules: readonly ProjectModule[],
): string[] {
  return [
    ...embeddedPackages(modules),
    ...eagerModules(entry, modules),
    ...uploadedForTypes(entry, modules),
  ];
}

function embeddedPackages(modules: readonly ProjectModule[]): string[] {
  return modules.flatMap(({ path, runtimeImports }) =>
    runtimeImports.flatMap(({ target }) => {
      const name = packageOf(target);
      if (name === null || !Object.hasOwn(VENDORED_PACKAGES, name)) return [];
      return [`${path} imports ${target}: import it from ${VENDOR_FOLDER}/ instead`];
    })
  );
}

function eagerModules(entry: string, modules: readonly ProjectModule[]): string[] {
  const loaded = reachedFrom(entry, modules, { includeDynamic: false });
  return VENDORED_MODULES
    .filter(({ name, isLoadedAtStart }) =>
      isLoadedAtStart !== true && loaded.has(`${VENDOR_FOLDER}/${name}.js`)
    )
    .map(({ name }) => {
      const importers = modules.filter(({ path, runtimeImports }) =>
        loaded.has(path) &&
        runtimeImports.some(({ target, isDynamic }) =>
          !isDynamic && target === `${VENDOR_FOLDER}/${name}.js`
        )
      ).map(({ path }) => path);
      return `${entry} loads ${VENDOR_FOLDER}/${name}.js when it starts (${
        importers.join(", ")
      }): load it with import() when it is first needed`;
    });
}

/** The CLI follows imports of types too, and uploads the whole module. */
function uploadedForTypes(entry: string, modules: readonly ProjectModule[]): string[] {
  const run = reachedFrom(entry, modules, { includeDynamic: true });
  return VENDORED_MODULES.map(({ name }) => `${VENDOR_FOLDER}/${name}.js`)
    .filter((vendored) => !run.has(vendored))
    .flatMap((vendored) => {
      const importers = modules.filter(({ imports }) => imports.includes(vendored));
      if (importers.length === 0) return [];
      return `${entry} uploads ${vendored} only for its types (${
        importers.map(({ path }) => path).join(", ")
      }): import the types from a module that the function runs, or declare them`;
    });
}

/** `npm:@scope/name@1.2.3/entry` → `@scope/name`; null for other specifiers. */
function packageOf(specifier: string): string | null {
  return /^npm:\/?((?:@[^/]+\/)?[^@/]+)/.exec(specifier)?.[1] ?? null;
}
