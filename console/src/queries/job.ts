// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useQuery } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { type CompletedJob, obstacleOf } from "../../../shared/engine/evals/test_of_job.ts";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";
import { jobNotFound } from "./job_not_found.ts";
import { useJobRows } from "./job_rows.ts";
import { withoutFences } from "../format/untrusted_text.ts";

/** Steps of one request when their inputs and outputs are read as well. */
const CONVERSATION_PAGE = 200;
/** No step has a higher one. */
const LAST_SEQ = 2 ** 31 - 1;
const EVENT_PAGE = 200;
/** Versions of frequently changing data are removed from the cache early. */
const KEPT_MS = 10_000;

/** While a new version loads the previous one stays; data of another task or step does not. */
function earlierVersion(key: Ref<readonly unknown[]>) {
  return <Data>(
    before: Data | undefined,
    query: { readonly queryKey: readonly unknown[] } | undefined,
  ): Data | undefined => {
    const subject = key.value.slice(0, -1);
    return subject.every((part, index) => part === query?.queryKey[index]) ? before : undefined;
  };
}

/** A job's row and totals, without input and output; a new `version` reads it again. */
export function useJobHead(jobId: Ref<string>, version: Ref<unknown>) {
  const rows = useJobRows();
  const queryKey = computed(() => ["job", jobId.value, "head", version.value]);
  return useQuery({
    queryKey,
    queryFn: async () => {
      const [task, usage, origin] = await Promise.all([
        rows.tasks(jobId.value).select(
          "id,master_task_id,agent_slug,status,budget,metadata,priority,error,warnings,run_after,created_at," +
            "started_at,finished_at,cancel_requested_at",
        ).eq("id", jobId.value).maybeSingle(),
        rows.usage(jobId.value),
        rows.events(jobId.value).select("payload").eq("task_id", jobId.value)
          .eq("type", "task.created").limit(1).maybeSingle(),
      ]);
      const row = dataOf({ ...task, data: task.data ?? false }) as unknown as JobHead | false;
      if (row === false) throw jobNotFound(jobId.value);
      return {
        task: row,
        usage: usage.data,
        forkedFrom: forkOriginOf(origin.data?.payload),
      };
    },
    placeholderData: earlierVersion(queryKey),
    gcTime: KEPT_MS,
  });
}

/** A tool that failed in a task and has not succeeded since. */
export interface TaskWarning {
  readonly server?: string;
  readonly tool?: string;
  readonly code?: string;
  readonly message?: string;
  readonly step_seq?: number;
}

/** The columns of a job's header. */
export interface JobHead {
  readonly id: string;
  readonly master_task_id: string;
  readonly agent_slug: string | null;
  readonly status: string;
  readonly budget: Readonly<Record<string, number | null>> | null;
  readonly metadata: unknown;
  readonly priority: string;
  readonly error:
    | { readonly code?: string; readonly message?: string; readonly hint?: string }
    | null;
  readonly warnings: readonly TaskWarning[];
  readonly run_after: string | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly cancel_requested_at: string | null;
}

/** A step of another task at which a fork begins. */
export interface ForkPoint {
  /** The id of its task, which leads to the job. */
  readonly taskId: string;
  readonly seq: number | null;
}

function forkOriginOf(payload: unknown): ForkPoint | null {
  const { forked_from: origin } = (payload ?? {}) as {
    forked_from?: { task_id?: unknown; step_seq?: unknown };
  };
  if (typeof origin?.task_id !== "string") return null;
  return {
    taskId: origin.task_id,
    seq: typeof origin.step_seq === "number" ? origin.step_seq : null,
  };
}

const FORK_LIMIT = 20;

/** The jobs that were forked from a task, with the step at which each begins. */
export function useForksOf(taskId: Ref<string>) {
  return useQuery({
    queryKey: computed(() => ["job", taskId.value, "forks"]),
    queryFn: async () => {
      const rows = dataOf(
        await projectClient().rpc("list_forks", { p_task_id: taskId.value, p_limit: FORK_LIMIT }),
      );
      return rows.flatMap(({ fork_id: id, from_seq: seq }) =>
        id === null || seq === null ? [] : [{ id, seq }]
      );
    },
  });
}

/** What a job repeats, and the jobs that repeat it. */
export interface JobRepeats {
  readonly source: string | null;
  readonly repeats: readonly string[];
}

/** How "Run again" links a job with others. */
export function useRepeatsOf(jobId: Ref<string>) {
  return useQuery({
    queryKey: computed(() => ["job", jobId.value, "repeats"]),
    queryFn: async (): Promise<JobRepeats> => {
      const rows = dataOf(
        await projectClient().rpc("list_repeats", { p_task_id: jobId.value, p_limit: FORK_LIMIT }),
      );
      return {
        source: rows.find(({ repeat_id: id }) => id === jobId.value)?.source_task_id ?? null,
        repeats: rows.flatMap(({ repeat_id: id, source_task_id: source }) =>
          source === jobId.value && id !== null ? [id] : []
        ),
      };
    },
  });
}

/** The input and output of a task. */
export function useTaskPayload(taskId: Ref<string>, version: Ref<unknown>, isWanted: Ref<boolean>) {
  const rows = useJobRows();
  const queryKey = computed(() => ["job", taskId.value, "payload", version.value]);
  return useQuery({
    queryKey,
    queryFn: async () =>
      dataOf(
        await rows.tasks(taskId.value)
          .select(
            "input,output,error,warnings,agent_slug,status,logs,input_tokens,output_tokens,cost_micro_usd",
          )
          .eq("id", taskId.value).single(),
      ),
    enabled: isWanted,
    placeholderData: earlierVersion(queryKey),
    gcTime: KEPT_MS,
  });
}

/** One step with its input and output, read when the user opens it. */
export function useStepPayload(
  taskId: Ref<string>,
  seq: Ref<number>,
  version: Ref<unknown>,
  isWanted: Ref<boolean>,
) {
  const rows = useJobRows();
  const queryKey = computed(() => ["job", taskId.value, "step", seq.value, version.value]);
  return useQuery({
    queryKey,
    queryFn: async () =>
      dataOf(
        await rows.steps(taskId.value)
          .select(
            "seq,kind,name,state,input,output,usage,started_at,ended_at,interruptions,call_id",
          )
          .eq("task_id", taskId.value).eq("seq", seq.value).single(),
      ),
    enabled: isWanted,
    placeholderData: earlierVersion(queryKey),
    gcTime: KEPT_MS,
  });
}

/** The ledger row of the call that a step made. */
export function useStepCall(taskId: Ref<string>, seq: Ref<number>, isWanted: Ref<boolean>) {
  const rows = useJobRows();
  return useQuery({
    queryKey: computed(() => ["job", taskId.value, "call", seq.value]),
    queryFn: async () => {
      const { data } = await rows.calls(taskId.value)
        .select("id,mcp_name,tool_name,feedback_token,execution_time_ms,created_at")
        .eq("task_id", taskId.value).eq("step_seq", seq.value)
        .order("created_at", { ascending: false }).limit(1);
      return data?.[0] ?? null;
    },
    enabled: isWanted,
  });
}

/** The latest steps of a task with their texts, oldest first; a new `version` reads them again. */
export function useConversation(
  taskId: Ref<string>,
  pageCount: Ref<number>,
  version: Ref<unknown>,
) {
  const rows = useJobRows();
  const queryKey = computed(() => [
    "job",
    taskId.value,
    "conversation",
    [pageCount.value, version.value],
  ]);
  return useQuery({
    queryKey,
    queryFn: async () => {
      const steps = [];
      let before: number = LAST_SEQ;
      for (let pages = 0; pages < pageCount.value; pages++) {
        const page = dataOf(
          await rows.steps(taskId.value)
            .select("seq,kind,name,state,input,output,started_at,ended_at,usage")
            .eq("task_id", taskId.value).lt("seq", before)
            .order("seq", { ascending: false }).limit(CONVERSATION_PAGE),
        );
        steps.push(...page);
        before = page.at(-1)?.seq ?? before;
        if (page.length < CONVERSATION_PAGE) break;
      }
      return steps.toReversed();
    },
    placeholderData: earlierVersion(queryKey),
    gcTime: KEPT_MS,
  });
}

/** What operators did with a job. */
export interface OperatorAct {
  readonly id: number;
  readonly at: string;
  readonly operator_id: string | null;
  readonly operator_email: string | null;
  readonly act: string;
  readonly reason: string | null;
  /** Of an act that opened the job. */
  readonly open_until: string | null;
}

/** What operators did with a job, newest first; a new `version` reads it again. */
export function useOperatorActs(jobId: Ref<string>, version: Ref<unknown>) {
  const queryKey = computed(() => ["job", jobId.value, "acts", version.value]);
  return useQuery({
    queryKey,
    queryFn: async () =>
      dataOf(
        await projectClient().rpc("list_operator_acts", { p_task_id: jobId.value }),
      ) as readonly OperatorAct[],
    placeholderData: earlierVersion(queryKey),
  });
}

/** The latest stored events of a job. */
export function useJobEvents(jobId: Ref<string>, version: Ref<unknown>) {
  const rows = useJobRows();
  const queryKey = computed(() => ["job", jobId.value, "events", version.value]);
  return useQuery({
    queryKey,
    queryFn: async () =>
      dataOf(
        await rows.events(jobId.value).select("id,task_id,type,at,payload")
          .eq("master_task_id", jobId.value).order("id", { ascending: false }).limit(EVENT_PAGE),
      ),
    placeholderData: earlierVersion(queryKey),
    gcTime: KEPT_MS,
  });
}

/** The data that the tasks of a job saved. */
export function useJobData(jobId: Ref<string>, version: Ref<unknown>) {
  const rows = useJobRows();
  const queryKey = computed(() => ["job", jobId.value, "data", version.value]);
  return useQuery({
    queryKey,
    queryFn: async () =>
      dataOf(
        await rows.tasks(jobId.value).select("id,agent_slug,storage_paths,intermediate_data")
          .eq("master_task_id", jobId.value).order("id").limit(EVENT_PAGE),
      ),
    placeholderData: earlierVersion(queryKey),
    gcTime: KEPT_MS,
  });
}

const LAST_STEPS = 5;
const STEP_TEXT_CHARACTERS = 600;

/** The work of a task before a step, with the beginning of each text. */
export function useLastSteps(taskId: Ref<string>, beforeSeq: Ref<number>) {
  return useQuery({
    queryKey: computed(() => ["job", taskId.value, "before", beforeSeq.value]),
    queryFn: async () => {
      const rows = dataOf(
        await projectClient().from("task_steps").select("seq,kind,name,text:output->>text")
          .eq("task_id", taskId.value).lt("seq", beforeSeq.value)
          .order("seq", { ascending: false }).limit(LAST_STEPS),
      ) as unknown as { seq: number; kind: string; name: string | null; text: string | null }[];
      return rows.map((row) => ({
        ...row,
        text: withoutFences(row.text ?? "").slice(0, STEP_TEXT_CHARACTERS),
      }));
    },
  });
}

/** What a test of a completed job is made of, or why none can be made. */
export type TestableJob =
  | { readonly kind: "job"; readonly job: CompletedJob }
  | { readonly kind: "none"; readonly obstacle: string };

/** What a test of a completed job is made of. */
export function useTestableJob(jobId: Ref<string>) {
  return useQuery({
    queryKey: computed(() => ["job", jobId.value, "testable"]),
    queryFn: async (): Promise<TestableJob> => {
      const client = projectClient();
      const [task, answers, reviews] = await Promise.all([
        client.from("tasks").select("input,output").eq("id", jobId.value).maybeSingle(),
        client.from("task_steps").select("kind,name,input").eq("task_id", jobId.value).order("seq"),
        client.from("human_reviews").select(
          "question,approved,comments,response,task:tasks!inner(master_task_id)",
        ).eq("task.master_task_id", jobId.value).not("answered_at", "is", null)
          .order("answered_at"),
      ]);
      const row = dataOf({ ...task, data: task.data ?? false }) as unknown as
        | Pick<CompletedJob, "input" | "output">
        | false;
      if (row === false) throw jobNotFound(jobId.value);
      const steps = dataOf(answers) as unknown as CompletedJob["steps"];
      const obstacle = obstacleOf(row.output, steps.map(({ kind }) => kind));
      if (obstacle !== null) return { kind: "none", obstacle };
      const given = dataOf(reviews).map(({ question, approved, comments, response }) => ({
        question,
        approved: approved === true,
        comments,
        response: response as JsonObject,
      }));
      return { kind: "job", job: { ...row, steps, reviews: given } };
    },
  });
}
