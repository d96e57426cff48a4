import { isHeadOld } from "./check_head.ts";
import type { QueryVector } from "./embed_search.ts";
import type { MergedHit } from "./merge_hits.ts";
import type { ProjectState, ProjectSync } from "./project_state.ts";

/** Describes the limitations of an answer in sentences. */
export function noticesOf(
  project: ProjectState,
  embedded: QueryVector,
  hits: readonly MergedHit[],
): string[] {
  const { freshness, embedder, similarity_floor: floor } = project;
  const notices: string[] = [];
  if (embedded.vector === null) {
    notices.push(`Searched by words only: ${embedded.reason}.`);
  } else if (freshness.pending_chunks > 0) {
    notices.push(
      `${freshness.pending_chunks} chunks have no vector yet: they are found by words only.`,
    );
  }
  if (freshness.document_count === 0) notices.push("The project has no documents.");
  if (project.sync !== null) notices.push(syncNotice(project.sync));
  if (project.refused_file_count > 0) {
    notices.push(
      `${project.refused_file_count} files could not be indexed: quoth_read_doc reports the reason for each.`,
    );
  }
  if (freshness.failed_chunks > 0) {
    notices.push(
      `The embedder rejected ${freshness.failed_chunks} chunks: they are found by words only.`,
    );
  }
  if (freshness.is_behind) {
    notices.push(
      freshness.indexed_commit === null
        ? "The branch is not completely indexed yet."
        : "The branch has commits that are not indexed yet.",
    );
  }
  if (isHeadOld(project)) {
    notices.push(
      `The branch was last checked on ${freshness.head_checked_at}: it may have moved since.`,
    );
  }
  if (project.is_english_only) {
    notices.push(
      ["english", "simple"].includes(project.language)
        ? `The embedder ${embedder} supports English only: ask in English.`
        : `The embedder ${embedder} supports English only, but the documents are ${project.language}: ` +
          `search by words works, search by meaning hardly does.`,
    );
  }
  if (project.next_embedder !== null) {
    notices.push(
      `The project is being switched to ${project.next_embedder}; until then ${embedder} is used.`,
    );
  }
  if (embedded.vector !== null && hits.length > 0 && isAllBelow(hits, floor)) {
    notices.push(
      `No hit reaches a similarity of ${percentOf(floor)}; hits below that are mostly unrelated.`,
    );
  }
  return notices;
}

function syncNotice({ status, problem, run_after: runAfter }: ProjectSync): string {
  if (status === "failed") return `The last sync failed: ${problem}`;
  return problem === null
    ? "A sync is running: its changes are not searchable yet."
    : `A sync waits${runAfter === null ? "" : ` until ${runAfter}`}: ${problem}`;
}

function isAllBelow(hits: readonly MergedHit[], floor: number): boolean {
  return hits.every(({ best }) => best.similarity !== null && best.similarity < floor);
}

function percentOf(share: number): string {
  return `${Math.round(share * 100)}%`;
}
