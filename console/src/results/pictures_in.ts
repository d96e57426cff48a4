import type { ToolResult } from "./tool_result.ts";

/** The pictures of a tool's answer: its image blocks, and the chart of `format_results`. */
export function picturesIn(
  { content, structuredContent }: Pick<ToolResult, "content" | "structuredContent">,
): Blob[] {
  const images = content.flatMap(({ type, data, mimeType }) => {
    if (type !== "image" || !data || !mimeType?.startsWith("image/")) return [];
    try {
      const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
      return [new Blob([bytes], { type: mimeType })];
    } catch {
      return [];
    }
  });
  const { svg } = (structuredContent ?? {}) as { svg?: unknown };
  if (typeof svg === "string") images.push(new Blob([svg], { type: "image/svg+xml" }));
  return images;
}
