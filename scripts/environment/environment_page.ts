import { ENV_VARIABLES } from "../../shared/platform/config/env_variables.ts";
import { fillSection } from "../markdown/fill_section.ts";
import { markdownTable } from "../markdown/markdown_table.ts";
import { MODEL_VARIABLES, STACK_VARIABLES } from "./stack_variables.ts";

type Declared = Readonly<
  Record<string, { purpose: string; defaultText: string | null; wanted?: string }>
>;

/** Writes the tables of the environment reference from the declarations. */
export function environmentPage(page: string): string {
  const functions: Declared = ENV_VARIABLES;
  const tables: Readonly<Record<string, string>> = {
    "functions": functionTable(functions, (name) => name.startsWith("SUPASWARM_")),
    "traces": functionTable(functions, (name) => name.startsWith("OTEL_")),
    "platform": platformTable(functions),
    "models": stackTable(MODEL_VARIABLES),
    "stack": stackTable(STACK_VARIABLES),
  };
  return Object.entries(tables)
    .reduce((text, [name, table]) => fillSection(text, name, table), page);
}

function functionTable(variables: Declared, isListed: (name: string) => boolean): string {
  return markdownTable(
    ["variable", "what", "form", "default"],
    Object.entries(variables).filter(([name]) => isListed(name)).map((
      [name, { purpose, wanted, defaultText }],
    ) => [`\`${name}\``, purpose, wanted ?? "", defaultCell(defaultText)]),
  );
}

function platformTable(variables: Declared): string {
  return markdownTable(
    ["variable", "what", "form"],
    Object.entries(variables).filter(([name]) => name.startsWith("SUPABASE_"))
      .map(([name, { purpose, wanted }]) => [`\`${name}\``, purpose, wanted ?? ""]),
  );
}

function stackTable(variables: Declared): string {
  return markdownTable(
    ["variable", "what", "default"],
    Object.entries(variables)
      .map((
        [name, { purpose, defaultText }],
      ) => [`\`${name}\``, purpose, defaultCell(defaultText)]),
  );
}

function defaultCell(text: string | null): string {
  return text ? `\`${text}\`` : "unset";
}
