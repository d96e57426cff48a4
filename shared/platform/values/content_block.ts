import type { JsonObject } from "./json.ts";

/** A content block of a tool, resource or prompt, in the form of the Model Context Protocol. */
export type ContentBlock =
  | TextBlock
  | MediaBlock
  | EmbeddedResource
  | ResourceLink;

/** Properties that every kind of block may have. */
interface BlockBase {
  readonly annotations?: JsonObject;
  readonly _meta?: JsonObject;
}

/** Text for the model and for people. */
export interface TextBlock extends BlockBase {
  readonly type: "text";
  readonly text: string;
}

/** An image or audio. */
export interface MediaBlock extends BlockBase {
  readonly type: "image" | "audio";
  /** In base64. */
  readonly data: string;
  readonly mimeType: string;
}

/** A resource embedded in the answer. */
export interface EmbeddedResource extends BlockBase {
  readonly type: "resource";
  readonly resource: ResourceContents;
}

/** A resource that can be read by its URI. */
export interface ResourceLink extends BlockBase {
  readonly type: "resource_link";
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
}

/** A resource's content: text, or bytes in base64. */
export interface ResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
  readonly _meta?: JsonObject;
}

/** A block of text. */
export function textBlock(text: string): TextBlock {
  return { type: "text", text };
}
