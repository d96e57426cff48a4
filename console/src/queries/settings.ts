// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useMutation, useQuery, useQueryClient } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";
import { allRows } from "./all_rows.ts";
import type { JsonSchema } from "../../../client/mod.ts";

const OPEN_MESSAGE_POLL_MS = 1_000;
const MESSAGE_POLL_MS = 15_000;
const MAX_MESSAGES = 50;

/** A key of the project. Its value is never readable. */
export interface ProjectKey {
  readonly name: string;
  readonly is_set: boolean;
  readonly set_at: string | null;
  readonly set_by: string | null;
  /** Stored by `mcps:sync`, and changed only there. */
  readonly is_from_file: boolean;
  readonly used_by: readonly string[];
  /** Hosts of what uses it. */
  readonly sent_to: readonly string[];
}

/** The scopes of an account, of one of its OAuth clients, or (null) the default. */
export interface Grant {
  readonly user_id: string | null;
  readonly email: string | null;
  readonly client_id: string | null;
  readonly scopes: readonly string[];
  readonly created_at: string;
}

/** A change of {@linkcode Grant}. */
export interface GrantChange {
  /** An email address or an id; null changes the default. */
  readonly account: string | null;
  readonly clientId: string | null;
  /** Null removes the row, so that the default applies. */
  readonly scopes: readonly string[] | null;
  /** What was read; null for a new row. */
  readonly base: readonly string[] | null;
  readonly reason: string;
}

/** A message of a webhook of the service. */
export interface WebhookMessage {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly attempts: number;
  readonly log: readonly {
    readonly at: string;
    readonly duration_ms: number;
    readonly status: number | null;
    readonly error: { readonly code: string; readonly message: string } | null;
  }[];
  readonly error: { readonly code?: string; readonly message?: string } | null;
  readonly payload: unknown;
  readonly created_at: string;
}

/** The JSON Schemas of settings by kind. */
export function useSettingSchemas() {
  return useQuery({
    queryKey: ["setting_kinds"],
    queryFn: async () =>
      new Map(
        (dataOf(await projectClient().from("operator_setting_kinds").select("*")) as unknown as {
          readonly kind: string;
          readonly schema: JsonSchema;
        }[]).map(({ kind, schema }) => [kind, schema]),
      ),
    staleTime: Infinity,
  });
}

/** The keys that the project uses or that were set here. */
export function useProjectKeys() {
  return useQuery({
    queryKey: ["project_keys"],
    queryFn: () => {
      const client = projectClient();
      return allRows<ProjectKey>((from, to) =>
        client.from("operator_secrets").select("*", { count: "exact" }).order("name")
          .range(from, to)
      );
    },
  });
}

/** Stores a key of the project in Vault; null deletes it. */
export function useSetProjectKey() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ name, secret }: { name: string; secret: string | null }) => {
      const answer = await projectClient().rpc("operator_set_secret", {
        p_name: name,
        p_secret: secret as string,
      });
      dataOf({ ...answer, data: true });
    },
    onSettled: () => void queries.invalidateQueries(),
  });
}

/** Who has which scopes. */
export function useGrants() {
  return useQuery({
    queryKey: ["grants"],
    queryFn: () => {
      const client = projectClient();
      // The default first, then by account; a client's scopes follow those of its account.
      return allRows<Grant>((from, to) =>
        client.from("operator_grants").select("*", { count: "exact" })
          .order("email", { nullsFirst: true }).order("user_id", { nullsFirst: true })
          .order("client_id", { nullsFirst: true }).range(from, to)
      );
    },
  });
}

/** The scopes that can be granted, and what each allows. */
export function useScopes() {
  return useQuery({
    queryKey: ["scopes"],
    queryFn: async () =>
      dataOf(
        await projectClient().from("operator_scopes").select("*"),
      ) as unknown as readonly { readonly scope: string; readonly allows: string }[],
  });
}

/** Replaces the scopes of an account. */
export function useSetScopes() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ account, clientId, scopes, base, reason }: GrantChange) => {
      const answer = await projectClient().rpc("operator_set_scopes", {
        p_account: account as string,
        p_scopes: scopes as string[],
        p_reason: reason,
        p_base: base as string[],
        p_client_id: clientId as string,
      });
      dataOf({ ...answer, data: true });
    },
    onSettled: () => void queries.invalidateQueries(),
  });
}

/** The newest messages of a webhook. Polls quickly while one is being sent. */
export function useWebhookMessages(webhook: Ref<string>) {
  return useQuery({
    queryKey: computed(() => ["webhook_messages", webhook.value]),
    queryFn: async () =>
      dataOf(
        await projectClient().from("operator_webhook_messages").select("*")
          .eq("webhook", webhook.value).order("created_at", { ascending: false })
          .limit(MAX_MESSAGES),
      ) as unknown as readonly WebhookMessage[],
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === "pending" || status === "running")
        ? OPEN_MESSAGE_POLL_MS
        : MESSAGE_POLL_MS,
  });
}

/** Sends a test message to a webhook of the service, or an earlier message again. */
export function useSendMessage(webhook: Ref<string>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (messageId: string | null) => {
      const client = projectClient();
      dataOf(
        messageId === null
          ? await client.rpc("operator_test_webhook", { p_name: webhook.value })
          : await client.rpc("operator_resend_webhook_message", { p_message_id: messageId }),
      );
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["webhook_messages", webhook.value] }),
  });
}

/** The next times of a schedule. Asks again for each pair of values that is valid. */
export function useScheduleTimes(cron: Ref<string>, timeZone: Ref<string>, count: number) {
  return useQuery({
    queryKey: computed(() => ["schedule_times", cron.value, timeZone.value]),
    queryFn: async () =>
      dataOf(
        await projectClient().rpc("next_schedule_times", {
          p_cron: cron.value,
          p_time_zone: timeZone.value,
          p_count: count,
        }),
      ) as unknown as readonly string[],
    enabled: computed(() => cron.value.trim() !== ""),
    retry: false,
  });
}
