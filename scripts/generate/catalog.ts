import { catalogPage } from "../catalog/catalog_page.ts";
import { formatText } from "../markdown/format_text.ts";
import type { GeneratedFiles } from "./generated_files.ts";

/** The page of the catalog, from the definitions of its tools. */
export async function catalogFiles(): Promise<GeneratedFiles> {
  return { "docs/reference/catalog.md": await formatText(catalogPage(), "md") };
}
