/** The name of a tool and its version, if its server versions tools. */
export interface VersionedName {
  readonly name: string;
  readonly version?: string | null | undefined;
}

/** The key of a version in the catalog: `name@version`. */
export function catalogKeyOf({ name, version }: VersionedName): string {
  return `${name}@${version}`;
}

/** The same in characters that every protocol and model provider accepts: `name_vVersion`. */
function versionedNameOf({ name, version }: VersionedName): string {
  return `${name}_v${version}`;
}

/** The name under which a tool is offered: the newest version has the plain name. */
export function offeredNameOf(tool: VersionedName & { readonly isOlderVersion?: boolean }): string {
  return tool.isOlderVersion === true ? versionedNameOf(tool) : tool.name;
}

/**
 * Finds a tool by its server's name for it (the newest of several versions), otherwise by the
 * catalog key or the versioned name. `private.begin_tool_call()` has the same rule.
 */
export function findByName<T extends VersionedName>(
  name: string,
  tools: readonly T[],
): T | undefined {
  return newestOf(tools.filter((tool) => tool.name === name)) ??
    tools.find((tool) =>
      tool.version !== undefined && tool.version !== null &&
      [catalogKeyOf(tool), versionedNameOf(tool)].includes(name)
    );
}

/** Whether a newer version of the tool is among the tools. */
export function isOlderVersion<T extends VersionedName>(tool: T, tools: readonly T[]): boolean {
  return tools.some(({ name, version }) =>
    name === tool.name && compareVersions(version, tool.version) > 0
  );
}

function newestOf<T extends VersionedName>(tools: readonly T[]): T | undefined {
  return tools.find((tool) => !isOlderVersion(tool, tools));
}

/**
 * Compares versions numerically: `10` after `9` and `1.10` after `1.9`; no version is the oldest.
 */
function compareVersions(some: VersionedName["version"], other: VersionedName["version"]): number {
  const [left, right] = [numbersOf(some), numbersOf(other)];
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? -1) - (right[at] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}

function numbersOf(version: VersionedName["version"]): readonly number[] {
  return (version ?? "").split(".").map(Number).filter(Number.isFinite);
}
