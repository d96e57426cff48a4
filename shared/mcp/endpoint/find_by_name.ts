import type { ListedTool } from "../../tools/tool_port.ts";

/**
 * The tool that a name means: as its server calls it, else by its catalogue key `name@version`, or
 * that in characters every model provider takes, `name_vVersion`.
 */
export function findByName(name: string, tools: readonly ListedTool[]): ListedTool | undefined {
  return tools.find((tool) => tool.name === name) ??
    tools.find(({ name: own, version }) =>
      version !== null && [`${own}@${version}`, `${own}_v${version}`].includes(name)
    );
}
