import type { ContentBlock } from "./content_block.ts";

/** Blocks as text for a model, with a note in place of other content. */
export function contentText(content: readonly ContentBlock[]): string {
  return content.map(textOf).join("\n");
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `(${block.type} of type ${block.mimeType}, not shown)`;
    case "resource_link":
      return `(resource ${block.name}: ${block.uri})`;
    case "resource":
      return block.resource.text ?? `(resource ${block.resource.uri}, not shown)`;
  }
}
