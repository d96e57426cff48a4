import { envExample } from "../environment/env_example.ts";
import { environmentPage } from "../environment/environment_page.ts";
import { formatText } from "../markdown/format_text.ts";
import { type GeneratedFiles, readCurrent } from "./generated_files.ts";

const PAGE = "docs/reference/environment.md";

/** The example of a `.env` and the tables of the reference, from the declared variables. */
export async function environmentFiles(): Promise<GeneratedFiles> {
  const page = environmentPage(await readCurrent(PAGE));
  return { ".env.example": envExample(), [PAGE]: await formatText(page, "md") };
}
