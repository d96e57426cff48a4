/** What a tool is called by. */
interface Named {
  readonly name: string;
  readonly version?: string | null | undefined;
}

/**
 * The tool that a name means: as its server calls it, else by its catalogue key `name@version`, or
 * that in characters every model provider takes, `name_vVersion`. `private.begin_tool_call()` has
 * the same rule.
 */
export function findByName<T extends Named>(name: string, tools: readonly T[]): T | undefined {
  return tools.find((tool) => tool.name === name) ??
    tools.find(({ name: own, version = null }) =>
      version !== null && [`${own}@${version}`, `${own}_v${version}`].includes(name)
    );
}
