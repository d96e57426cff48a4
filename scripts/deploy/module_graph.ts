import { fileURLToPath } from "node:url";
import { relative } from "node:path";
import { z } from "zod";

const DENO_INFO = z.object({
  modules: z.array(z.object({
    specifier: z.string(),
    error: z.string().optional(),
    dependencies: z.array(z.object({ specifier: z.string() })).optional(),
  })),
});

/** A module of the project and the project's modules that it imports; paths from the root. */
export interface ProjectModule {
  readonly path: string;
  readonly imports: readonly string[];
}

/**
 * The project's own modules that a module reaches, itself included, as Deno resolves them.
 *
 * @throws Error when Deno cannot resolve one.
 */
export async function moduleGraph(projectRoot: string, entry: string): Promise<ProjectModule[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", entry],
    cwd: projectRoot,
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  const { modules } = DENO_INFO.parse(JSON.parse(new TextDecoder().decode(stdout)));
  const broken = modules.find((module) => module.error !== undefined);
  if (broken !== undefined) throw new Error(`${broken.specifier}: ${broken.error}`);

  const local = modules.filter((module) => module.specifier.startsWith("file:"));
  const pathOf = (specifier: string) => relative(projectRoot, fileURLToPath(specifier));
  return local.map((module) => ({
    path: pathOf(module.specifier),
    imports: (module.dependencies ?? [])
      .filter(({ specifier }) => specifier.startsWith("."))
      .map(({ specifier }) => pathOf(new URL(specifier, module.specifier).href)),
  }));
}
