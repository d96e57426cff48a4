/**
 * A block of Markdown by its lines, counted from 0. Blocks of one level tile their parent: each
 * extends from its first line to the next block's, so that together they cover every line.
 */
export interface Block {
  readonly kind: BlockKind;
  readonly startLine: number;
  /** The line after the last, blank lines between this block and the next one included. */
  readonly endLine: number;
  /** The line after the last without them. */
  readonly textEndLine: number;
  /** The content of lists, list items and quotes. */
  readonly children: Block[];
  /** Only for headings. */
  readonly heading?: Heading;
  /** The marker that opened a fence, such as three backticks. */
  readonly fenceMarker?: string;
}

/** How a block may be split if it is too long. */
export type BlockKind = "heading" | "text" | "fence" | "table" | "container";

/** A heading, wherever it stands. */
export interface Heading {
  /** 1 to 6. */
  readonly level: number;
  /** As displayed: without markup and without the author's `{#id}`. */
  readonly text: string;
  /** The author's `{#id}`, or GitHub's for this text and place. */
  readonly anchor: string;
}
