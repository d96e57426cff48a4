/** The used parts of a lock file. Not a zod schema, because this code helps to generate zod. */
interface LockFile {
  readonly version: string;
  readonly specifiers: Readonly<Record<string, string>>;
  readonly npm: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly dependencies?: readonly string[];
  readonly optionalDependencies?: readonly string[];
}

/**
 * Returns the part of a lock file with these packages and their dependencies, each with its version
 * and checksum.
 *
 * @param specifiers For example `npm:zod@4.6.7`.
 * @throws Error when the lock file has no entry for one of them.
 */
export function lockedClosure(lockText: string, specifiers: readonly string[]): string {
  const lock: LockFile = JSON.parse(lockText);
  const kept = new Map<string, LockedPackage>();
  const waiting = specifiers.map((specifier) => rootOf(lock, specifier));
  for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
    const found = lock.npm[key];
    if (kept.has(key) || found === undefined) continue;
    kept.set(key, found);
    for (const name of [...found.dependencies ?? [], ...found.optionalDependencies ?? []]) {
      waiting.push(keyOf(lock, name));
    }
  }
  return JSON.stringify({
    version: lock.version,
    specifiers: Object.fromEntries(specifiers.map((name) => [name, lock.specifiers[name]])),
    npm: Object.fromEntries(
      [...kept].sort(([a], [b]) => a < b ? -1 : 1)
        .map(([key, locked]) => [key, withShortNames(locked, [...kept.keys()])]),
    ),
  });
}

/** Names a dependency without its version if only one version of it is kept, as Deno does. */
function withShortNames(locked: LockedPackage, keys: readonly string[]): LockedPackage {
  const shorten = (dependency: string) => {
    if (!keys.includes(dependency)) return dependency;
    const name = dependency.slice(0, dependency.indexOf("@", 1));
    return keys.some((key) => key !== dependency && key.startsWith(`${name}@`)) ? dependency : name;
  };
  const lists = ["dependencies", "optionalDependencies"] as const;
  const shortened = lists.filter((list) => locked[list] !== undefined)
    .map((list) => [list, locked[list]?.map(shorten)]);
  return { ...locked, ...Object.fromEntries(shortened) };
}

function rootOf(lock: LockFile, specifier: string): string {
  const version = lock.specifiers[specifier];
  if (version === undefined) {
    throw new Error(`The lock file has no entry for ${specifier}. Run deno task vendor`);
  }
  return `${nameOf(specifier.slice("npm:".length))}@${version}`;
}

/** The lock file lists a dependency only by name if only one version of the package is locked. */
function keyOf(lock: LockFile, dependency: string): string {
  if (lock.npm[dependency] !== undefined) return dependency;
  const prefix = `${dependency}@`;
  const key = Object.keys(lock.npm).find((candidate) => candidate.startsWith(prefix));
  if (key === undefined) throw new Error(`The lock file has no version of ${dependency}`);
  return key;
}

/** `@scope/name@1.2.3` → `@scope/name`. */
function nameOf(packageWithVersion: string): string {
  return packageWithVersion.slice(0, packageWithVersion.lastIndexOf("@"));
}
