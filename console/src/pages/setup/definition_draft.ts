import type { JsonObject } from "../../../../shared/platform/values/json.ts";
import { userId } from "../../project/session.ts";
import type { EditedKind } from "../../queries/definitions.ts";
import { documentOfParts, partsOfDocument } from "./document_parts.ts";

/** What somebody has typed into the form of a definition. */
export interface Draft {
  readonly kind: EditedKind;
  readonly slug: string;
  readonly fields: JsonObject;
  readonly text: string | null;
  /** What the form was filled with; null for a new definition. */
  readonly base: JsonObject | null;
}

/** Drafts whose pages were left, by user. They last as long as the console is open. */
const left = new Map<string, Draft>();

/** The form of a definition, or of a new one. */
export function draftOf(
  kind: EditedKind,
  known: { readonly slug: string; readonly definition: JsonObject } | null,
): Draft {
  if (known === null) return { kind, slug: "", fields: {}, text: "", base: null };
  const { slug, definition } = known;
  return { kind, slug, ...partsOfDocument({ kind, slug, definition }), base: definition };
}

/** The definition that the form describes. */
export function draftedDefinition({ kind, slug, fields, text, base }: Draft): JsonObject {
  return documentOfParts({ kind, slug }, { fields, text }, base ?? {});
}

/** Whether somebody has typed something. */
export function isChanged({ kind, slug, fields, text, base }: Draft): boolean {
  const { fields: before, text: textBefore } = draftOf(
    kind,
    base === null ? null : { slug, definition: base },
  );
  return slug !== "" && base === null ||
    JSON.stringify([fields, text]) !== JSON.stringify([before, textBefore]);
}

/** Keeps a changed draft until its form is opened again. */
export function keepDraft(slug: string | null, draft: Draft): void {
  const key = keyOf(draft.kind, slug);
  if (isChanged(draft)) left.set(key, draft);
  else left.delete(key);
}

/** The draft that the user left, if there is one. */
export function draftLeft(kind: EditedKind, slug: string | null): Draft | undefined {
  return left.get(keyOf(kind, slug));
}

function keyOf(kind: EditedKind, slug: string | null): string {
  return `${userId.value} ${kind} ${slug}`;
}
