import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { createKeyMaterial, type KeyMaterial, keyMaterialSchema } from "./key_material.ts";

const FILE_NAME = "keys.json";

/**
 * Reads the keys in `dataDir`, or creates and stores new ones. Only the owner may read the file.
 * Stored keys let sessions and clients survive a restart.
 *
 * @throws SwarmError CONFIG_INVALID when the file exists but is damaged.
 */
export async function ensureKeyFile(dataDir: string): Promise<KeyMaterial> {
  const path = `${dataDir}/${FILE_NAME}`;
  const text = await readIfPresent(path);
  if (text !== null) return parseKeyFile(path, text);
  const material = await createKeyMaterial();
  await Deno.mkdir(dataDir, { recursive: true });
  await writePrivateFile(path, JSON.stringify(material, null, 2) + "\n");
  return material;
}

function parseKeyFile(path: string, text: string): KeyMaterial {
  try {
    return keyMaterialSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new SwarmError("CONFIG_INVALID", `Cannot read the stack's keys: ${path} is damaged`, {
      hint: "Delete the file to get new keys. Users must then sign in again.",
      cause,
    });
  }
}

/** Writes a temporary file and renames it, so that a crash never leaves a partial file. */
async function writePrivateFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${crypto.randomUUID()}`;
  await Deno.writeTextFile(draft, text, { mode: 0o600, createNew: true });
  await Deno.rename(draft, path);
}

async function readIfPresent(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
