// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useMutation, useQuery, useQueryClient } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import type { Json } from "../../../client/mod.ts";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import type { RegistryDefinition } from "../../../shared/engine/definitions/definition.ts";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";
import { allRows } from "./all_rows.ts";

/** What a project has beside the definitions of files. */
export const SETTING_KINDS = [
  "server",
  "limit",
  "provider",
  "model",
  "policy",
  "quota",
  "audience",
  "retention",
  "documents",
] as const;
/** See {@linkcode SETTING_KINDS}. */
export type SettingKind = (typeof SETTING_KINDS)[number];
/** What the console edits as a document. */
export type EditedKind = RegistryDefinition["kind"] | SettingKind;

/** A definition or setting as a document. */
export interface EditedDocument {
  readonly kind: EditedKind;
  readonly slug: string;
  readonly definition: JsonObject;
}

/** A document and, of a definition, how it relates to the files of the last push. */
export interface KnownDefinition extends EditedDocument {
  /** The newest revision of an agent; null for the other kinds. */
  readonly revision: number | null;
  readonly is_pushed: boolean;
  readonly pushed_at: string | null;
  readonly pushed_by: string | null;
  /** The fields that were changed in the database since the last push. */
  readonly drift: readonly string[];
  /** What is shown beside a setting; empty for a definition. */
  readonly facts: JsonObject;
}

/** An agent as it was after a change. */
export interface AgentRevision {
  readonly revision: number;
  readonly is_current: boolean;
  readonly author: string | null;
  readonly created_at: string;
  readonly definition: JsonObject;
}

/** What a change does. */
export interface DefinitionPlan {
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  readonly fields: readonly string[];
  readonly affected: {
    readonly agents?: readonly string[];
    readonly schedules?: number;
    readonly triggers?: number;
    readonly unfinished_tasks?: number;
    /** Of a setting. */
    readonly used_by?: readonly string[];
    readonly jobs_to_delete?: number;
  };
  readonly problems: readonly {
    readonly field: string;
    readonly problem: string;
    readonly hint: string;
  }[];
}

/** A change of one definition. */
export interface DefinitionChange extends Pick<EditedDocument, "kind" | "slug"> {
  /** Null removes it. */
  readonly definition: JsonObject | null;
  /** What the editor read; null for a new one. */
  readonly base: JsonObject | null;
}

/** All definitions and settings of the project. */
export function useDefinitions() {
  return useQuery({
    queryKey: ["definitions"],
    queryFn: async () => {
      const client = projectClient();
      const all = (view: "operator_definitions" | "operator_settings") =>
        allRows<KnownDefinition>((from, to) =>
          client.from(view).select("*", { count: "exact" }).order("kind").order("slug")
            .range(from, to)
        );
      const [definitions, settings] = await Promise.all([
        all("operator_definitions"),
        all("operator_settings"),
      ]);
      return [
        ...definitions.map((one) => ({ ...one, facts: {} })),
        ...settings.map((one) => ({
          ...one,
          revision: null,
          is_pushed: false,
          pushed_at: null,
          pushed_by: null,
          drift: [],
        })),
      ] as readonly KnownDefinition[];
    },
  });
}

/** The slugs of all tools, also of tool servers. */
export function useToolSlugs() {
  return useQuery({
    queryKey: ["tool_slugs"],
    queryFn: async () => {
      const client = projectClient();
      const tools = await allRows<{ readonly slug: string }>((from, to) =>
        client.from("tools").select("slug", { count: "exact" }).order("slug").range(from, to)
      );
      return tools.map(({ slug }) => slug);
    },
  });
}

/** The revisions of an agent, newest first. */
export function useAgentRevisions(slug: Ref<string>) {
  return useQuery({
    queryKey: computed(() => ["definitions", "revisions", slug.value]),
    queryFn: async () =>
      dataOf(
        await projectClient().from("operator_agent_revisions")
          .select("revision,is_current,author,created_at,definition")
          .eq("agent_slug", slug.value).order("revision", { ascending: false }),
      ) as unknown as readonly AgentRevision[],
  });
}

/** Asks what a change would do; nothing is written. */
export function usePlanDefinition() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (change: DefinitionChange) => send(change, true),
    // Perhaps somebody else has changed it.
    onError: () => queries.invalidateQueries({ queryKey: ["definitions"] }),
  });
}

/** Writes a change. */
export function useSaveDefinition() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (change: DefinitionChange) => send(change, false),
    onSettled: () => void queries.invalidateQueries(),
  });
}

/** Makes an earlier revision of an agent its newest. */
export function useRollback() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ slug, revision }: { slug: string; revision: number }) =>
      dataOf(
        await projectClient().rpc("operator_rollback_agent", {
          p_slug: slug,
          p_revision: revision,
        }),
      ),
    onSettled: () => void queries.invalidateQueries(),
  });
}

async function send(change: DefinitionChange, isDryRun: boolean): Promise<DefinitionPlan> {
  const { kind, slug, definition, base } = change;
  return dataOf(
    await projectClient().rpc("operator_save_definition", {
      p_kind: kind,
      p_slug: slug,
      p_definition: definition as Json,
      p_base: base as Json,
      p_is_dry_run: isDryRun,
    }),
  ) as unknown as DefinitionPlan;
}
