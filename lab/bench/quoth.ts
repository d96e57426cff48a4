import { z } from "../../shared/vendor/zod.js";
import { waitFor } from "../../scripts/wait_for.ts";
import { addProject } from "../../scripts/quoth/add_project.ts";
import { createEmbedderResolver } from "../../shared/servers/quoth/embedders/resolve_embedder.ts";
import { type BenchResult, judge, percentile, rounded, type Target } from "./bench_result.ts";
import { type MeasuredStack, startMeasuredStack } from "./measured_stack.ts";
import { openEmbeddingCache } from "./quoth/embedding_cache.ts";
import {
  QUERY_KINDS,
  readReferenceQueries,
  type ReferenceQuery,
} from "./quoth/reference_queries.ts";
import { bootstrap } from "./quoth/bootstrap.ts";
import { mean, type RankedHit, type RankingScore, scoreRanking } from "./quoth/score_ranking.ts";
import type { ReferenceFile } from "./reference_files.ts";

/** Enough hits for ten files when some have two hits and some are excluded. */
const HITS = 25;
const SLUG = "reference";
const INDEXING_TIMEOUT_MS = 3_600_000;

const EMBEDDERS: Readonly<
  Record<string, { readonly name: string; readonly targets: Readonly<Record<string, Target>> }>
> = {
  minilm: {
    name: "minilm-l6-v2+hash384@1",
    targets: {
      hybrid_ndcg10_macro: { min: 0.727 },
      hybrid_ndcg10_paraphrase: { min: 0.577 },
      hybrid_ndcg10_identifier: { min: 0.82 },
      hybrid_section_hit5: { min: 0.75 },
    },
  },
  hash: { name: "hash768@1", targets: { hybrid_ndcg10_macro: { min: 0.65 } } },
};

/** What to measure: every figure, or only the searches that have targets, without their times. */
export type MeasuredFigures = "all" | "targets";

/** How many searches run at a time where no time is measured. */
const GATE_LANES = 3;
/** Where no time is measured, no isolate has to be replaced. */
const WITHOUT_CPU_LIMITS = { SUPASWARM_CPU_HARD_MS: "0" };

const toolAnswer = z.object({
  results: z.array(z.object({
    file: z.string(),
    start_line: z.number(),
    end_line: z.number(),
  })),
  mode: z.string(),
});

/**
 * Measures Quoth's search quality. Indexes the reference documents through `quoth-sync` and runs
 * each labeled query with `quoth_search_index`, with only full text, and with only vectors.
 *
 * @param embedder `minilm` or `hash`.
 */
export async function benchQuoth(
  db: string,
  embedder = "minilm",
  measured: MeasuredFigures = "all",
): Promise<BenchResult> {
  const chosen = EMBEDDERS[embedder];
  if (chosen === undefined) {
    throw new Error(`Cannot run quoth: embedder '${embedder}' is unknown. Use minilm or hash`);
  }
  const reference = await readReferenceQueries();
  if (reference === null) {
    throw new Error("Cannot run the benchmark: the folder ../shared/data/quoth is missing");
  }
  const { files, queries } = reference;
  await using platform = await startMeasuredStack(
    db,
    measured === "all" ? {} : WITHOUT_CPU_LIMITS,
  );
  await using cache = await cacheModel(platform, chosen.name);

  const indexed = await index(platform, chosen.name, files);
  const searches = Object.entries(searchesOf(platform, chosen.name, indexed.projectId)).filter(
    ([name]) => measured === "all" || hasTarget(chosen.targets, name),
  );
  // A search that waits for another one takes longer, so only figures without times are shared.
  const lanes = measured === "all" ? 1 : GATE_LANES;
  const figures: Record<string, number> = {
    files: files.length,
    chunks: indexed.chunks,
    queries: queries.length,
    ...(cache === null ? {} : {
      embedded_texts: cache.counts.misses,
      remembered_texts: cache.counts.hits,
    }),
    index_seconds: rounded(indexed.durationMs / 1000),
    files_per_second: rounded(files.length / indexed.durationMs * 1000),
  };
  for (const [name, search] of searches) {
    Object.assign(figures, await measure(name, search, queries, lanes));
  }
  const notes = [
    "Macro is the mean over the kinds of queries, with a 95 % interval from low to high; section hits count only queries that link to a heading.",
    cache === null || cache.counts.hits === 0
      ? "Every text was embedded in this run."
      : "Vectors of earlier runs were used again, so the indexing time does not include the model.",
  ];
  return judge("quoth", figures, chosen.targets, { notes });
}

/** Caches the local model's vectors between runs. Returns null for an embedder without a server. */
async function cacheModel({ sql }: MeasuredStack, embedder: string) {
  const [row] = await sql`select base_url from public.embedders where name = ${embedder}`;
  if (typeof row?.base_url !== "string") return null;
  const cache = await openEmbeddingCache(row.base_url);
  await sql`update public.embedders set base_url = ${cache.url} where name = ${embedder}`;
  return cache;
}

async function index(
  { sql, stack }: MeasuredStack,
  embedder: string,
  files: readonly ReferenceFile[],
) {
  const project = await addProject(sql, {
    slug: SLUG,
    repo: "denoland/docs",
    branch: null,
    globs: null,
    language: null,
    embedder,
    members: [],
    isSynced: false,
  });
  const startedAt = performance.now();
  await post(stack, "quoth-sync", { project: SLUG, files });
  let chunks = 0;
  await waitFor(async () => {
    const [row] = await sql`
      select (select count(*)::int from public.documents) as documents,
        (select count(*)::int from private.pending_embeddings where failed_at is not null) as failed,
        count(*)::int as chunks, count(*) filter (where embedding is null)::int as pending
      from public.document_embeddings`;
    if (row?.failed > 0) throw new Error(`The embedder refused ${row?.failed} texts`);
    chunks = row?.chunks;
    return row?.documents === files.length && row.pending === 0;
  }, { what: "the index", timeoutMs: INDEXING_TIMEOUT_MS, intervalMs: 250 });
  return { projectId: project.project_id, chunks, durationMs: performance.now() - startedAt };
}

function hasTarget(targets: Readonly<Record<string, Target>>, search: string): boolean {
  return Object.keys(targets).some((figure) => figure.startsWith(`${search}_`));
}

type Search = (query: string) => Promise<readonly RankedHit[]>;

function searchesOf(
  { sql, stack }: MeasuredStack,
  embedder: string,
  projectId: string,
): Readonly<Record<string, Search>> {
  const resolve = createEmbedderResolver(sql, { transport: { fetch, nowMs: Date.now } });
  return {
    hybrid: async (query) => {
      const { structuredContent } = await post(stack, "mcp-execute", {
        server: "quoth",
        tool_name: "quoth_search_index",
        parameters: { query, projectId: SLUG, limit: HITS },
      });
      const { results, mode } = toolAnswer.parse(structuredContent);
      if (mode !== "hybrid") throw new Error(`The tool searched in mode ${mode}`);
      return results.map((hit) => ({
        file: hit.file,
        startLine: hit.start_line,
        endLine: hit.end_line,
      }));
    },
    text: async (query) => {
      const rows = await sql`
        select file_path, start_line, end_line
        from public.search_documents(
          p_project_id => ${projectId}::uuid,
          p_query => ${query},
          p_limit => ${4 * HITS}
        )`;
      return rows.map(toHit);
    },
    vector: async (query) => {
      const { embedder: model } = await resolve(embedder);
      const vector = await model.embedQuery(query, AbortSignal.timeout(60_000));
      const rows = await sql`
        select found.file_path, chunk.start_line, chunk.end_line
        from public.match_documents(
          query_embedding => ${`[${vector.join(",")}]`}::extensions.vector,
          match_threshold => null,
          match_count => ${4 * HITS},
          filter_project_id => ${projectId}::uuid
        ) with ordinality as found
        join public.document_embeddings as chunk on chunk.id = found.id
        order by found.ordinality`;
      return rows.map(toHit);
    },
  };
}

function toHit(row: Record<string, unknown>): RankedHit {
  return {
    file: String(row.file_path),
    startLine: Number(row.start_line),
    endLine: Number(row.end_line),
  };
}

async function measure(
  name: string,
  search: Search,
  queries: readonly ReferenceQuery[],
  lanes: number,
) {
  const durationsMs: number[] = [];
  const scored: { readonly kind: string; readonly score: RankingScore }[] = [];
  const queue = queries.values();
  await Promise.all(Array.from({ length: lanes }, async () => {
    for (const { kind, query, judgment } of queue) {
      const startedAt = performance.now();
      const hits = await search(query);
      durationsMs.push(performance.now() - startedAt);
      scored.push({ kind, score: scoreRanking(hits, judgment) });
    }
  }));
  const of = (kind: string, metric: keyof RankingScore) =>
    mean(scored.filter((entry) => entry.kind === kind).map(({ score }) => score[metric] ?? 0));
  const figures: Record<string, number> = {};
  for (const [metric, label] of METRICS) {
    for (const kind of QUERY_KINDS) figures[`${name}_${label}_${kind}`] = rounded(of(kind, metric));
    figures[`${name}_${label}_macro`] = rounded(mean(QUERY_KINDS.map((kind) => of(kind, metric))));
  }
  const macro = bootstrap(
    QUERY_KINDS.map((kind) =>
      scored.filter((entry) => entry.kind === kind).map(({ score }) => score.ndcgAt10)
    ),
  );
  figures[`${name}_ndcg10_macro_low`] = rounded(macro.low);
  figures[`${name}_ndcg10_macro_high`] = rounded(macro.high);
  const sections = scored.flatMap(({ score }) => score.sectionHitAt5 ?? []);
  figures[`${name}_section_hit5`] = rounded(mean(sections));
  figures[`${name}_section_queries`] = sections.length;
  if (lanes > 1) return figures;
  figures[`${name}_ms_p50`] = rounded(percentile(durationsMs, 0.5));
  figures[`${name}_ms_p95`] = rounded(percentile(durationsMs, 0.95));
  return figures;
}

const METRICS = [["ndcgAt10", "ndcg10"], ["mrrAt10", "mrr10"], ["recallAt5", "recall5"]] as const;

async function post(
  stack: MeasuredStack["stack"],
  name: string,
  body: unknown,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${stack.apiUrl}/functions/v1/${name}`, {
    method: "POST",
    headers: { apikey: stack.secretKey, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${name} answered ${response.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text);
}
