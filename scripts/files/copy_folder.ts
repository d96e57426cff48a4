import { join } from "node:path";

/** Copies a folder with its files and folders, except those of these names. Skips links. */
export async function copyFolder(
  from: string,
  to: string,
  { except = [] }: { readonly except?: readonly string[] } = {},
): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory, isFile } of Deno.readDir(from)) {
    if (except.includes(name)) continue;
    if (isDirectory) await copyFolder(join(from, name), join(to, name), { except });
    if (isFile) await Deno.copyFile(join(from, name), join(to, name));
  }
}
