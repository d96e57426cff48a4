import type { Block } from "./block.ts";
import { cutBlock } from "./cut_block.ts";
import { type Piece, pieceTokens, type Splitting } from "./piece.ts";
import type { Section } from "./outline.ts";

/** A complete code example is more important than an exact size limit. */
const WHOLE_BLOCK_SLACK = 1.1;
/** The maximum share of a piece that may precede the start of a block that must be split. */
const LEAD_SHARE = 1 / 4;

/** Packs consecutive blocks into as few pieces as possible without unnecessary splits. */
export function packBlocks(
  blocks: readonly Block[],
  section: Section,
  splitting: Splitting,
): Piece[] {
  const packer = new Packer(section, splitting);
  for (const block of blocks) packer.add(block);
  return packer.finish();
}

class Packer {
  readonly #section: Section;
  readonly #splitting: Splitting;
  readonly #done: Piece[] = [];
  #current: Piece | null = null;
  /** Start of the heading or paragraph that the next block belongs to. */
  #leadStart: number | null = null;

  constructor(section: Section, splitting: Splitting) {
    this.#section = section;
    this.#splitting = splitting;
  }

  add(block: Block): void {
    const piece = this.#pieceOf(block);
    if (this.#extend(block, piece)) this.#noteLead(block, piece);
    else if (pieceTokens(piece, this.#splitting) <= this.#limitOf(block)) {
      this.#beginWith(block, piece);
      this.#noteLead(block, piece);
    } else if (block.children.length > 0) {
      for (const child of block.children) this.add(child);
    } else {
      this.#cut(block, piece);
      this.#leadStart = null;
    }
  }

  finish(): Piece[] {
    this.#flush();
    return this.#done;
  }

  #pieceOf(block: Block): Piece {
    const { lines } = this.#splitting;
    return {
      start: lines.offset(block.startLine),
      end: lines.offset(block.endLine),
      prefix: "",
      suffix: "",
      section: this.#section,
    };
  }

  #extend(block: Block, piece: Piece): boolean {
    const current = this.#current;
    if (current === null) {
      if (pieceTokens(piece, this.#splitting) > this.#limitOf(block)) return false;
      this.#current = piece;
      return true;
    }
    if (current.suffix !== "") return false;
    const joined = { ...current, end: piece.end };
    const isLeadOnly = this.#leadStart === current.start;
    const limit = isLeadOnly ? this.#limitOf(block) : this.#splitting.maxTokens;
    if (pieceTokens(joined, this.#splitting) > limit) return false;
    this.#current = joined;
    return true;
  }

  /** Starts a new piece, including the block's lead if that fits. */
  #beginWith(block: Block, piece: Piece): void {
    const lead = this.#takeLead(block, this.#limitOf(block) - pieceTokens(piece, this.#splitting));
    this.#flush();
    this.#current = lead === null ? piece : { ...piece, start: lead };
  }

  #cut(block: Block, piece: Piece): void {
    const { maxTokens } = this.#splitting;
    const lead = this.#takeLead(block, Math.floor(maxTokens * LEAD_SHARE));
    this.#flush();
    const pieces = cutBlock(block, lead ?? piece.start, this.#section, this.#splitting);
    this.#current = pieces.pop() ?? null;
    for (const part of pieces) this.#done.push(part);
  }

  /** Removes the lead from the current piece, if it has at most `maxTokens`. */
  #takeLead(block: Block, maxTokens: number): number | null {
    const [current, leadStart] = [this.#current, this.#leadStart];
    if (current === null || leadStart === null || current.suffix !== "") return null;
    if (block.kind === "text" && leadStart !== current.start) return null;
    if (this.#splitting.meter.tokens(leadStart, current.end) > maxTokens) return null;
    this.#current = leadStart === current.start ? null : { ...current, end: leadStart };
    return leadStart;
  }

  /** A heading introduces the next block, and so does a paragraph directly below it. */
  #noteLead(block: Block, piece: Piece): void {
    const follows = this.#leadStart !== null && this.#leadStart === this.#current?.start;
    if (block.kind === "heading") this.#leadStart = follows ? this.#leadStart : piece.start;
    else if (block.kind === "text") {
      this.#leadStart = follows && this.#isShortLead() ? this.#leadStart : piece.start;
    } else this.#leadStart = null;
  }

  #isShortLead(): boolean {
    const { maxTokens } = this.#splitting;
    return this.#current !== null &&
      pieceTokens(this.#current, this.#splitting) <= maxTokens * LEAD_SHARE;
  }

  #flush(): void {
    if (this.#current !== null) this.#done.push(this.#current);
    this.#current = null;
  }

  #limitOf(block: Block): number {
    const { maxTokens } = this.#splitting;
    return block.kind === "fence" || block.kind === "table"
      ? maxTokens * WHOLE_BLOCK_SLACK
      : maxTokens;
  }
}
