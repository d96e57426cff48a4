import { basename, join } from "node:path";
import { loadYaml } from "../../deps.ts";
import { YamlFileError } from "../../yaml/read_located_yaml.ts";
import { readScript } from "./read_script.ts";

/** Reads all scripts of a folder, and returns their problems with file and line. */
export async function scriptProblems(folder: string): Promise<readonly string[]> {
  const yaml = await loadYaml();
  const problems: string[] = [];
  for await (const { name } of scriptsIn(folder)) {
    const text = await Deno.readTextFile(join(folder, name));
    try {
      readScript(text, `${basename(folder)}/${name}`, yaml);
    } catch (error) {
      if (!(error instanceof YamlFileError)) throw error;
      problems.push(error.message);
    }
  }
  return problems;
}

async function* scriptsIn(folder: string): AsyncGenerator<Deno.DirEntry> {
  try {
    for await (const entry of Deno.readDir(folder)) {
      if (entry.isFile && entry.name.endsWith(".script.yaml")) yield entry;
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
