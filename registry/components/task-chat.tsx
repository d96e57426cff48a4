"use client";

import { ReviewCard } from "@/components/review-card";
import { type FormEvent, type ReactNode, useEffect, useId, useState } from "react";
import { type JobEvent, type Json, readableJson, type Swarm } from "supaswarm/client";
import { useJob } from "supaswarm/react";

export interface TaskChatProps {
  /** `createSwarm(supabase)`, with a signed-in user. */
  readonly swarm: Swarm;
  /** The slug of the agent that answers. */
  readonly agent: string;
  /** A job to continue, such as one from the address of the page. */
  readonly jobId?: string | null;
  /** Gets the id of a new conversation, for the address of the page. */
  readonly onStart?: (jobId: string) => void;
}

interface Message {
  readonly key: string;
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** A conversation with an agent. It is a job, so it survives reloads and lost connections. */
export function TaskChat({ swarm, agent, jobId = null, onStart }: TaskChatProps): ReactNode {
  const fieldId = useId();
  const [startedId, setStartedId] = useState<string | null>(null);
  const [draft, setDraft] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const id = jobId ?? startedId;
  const job = useJob<Json>(swarm, id);
  const question = useFirstMessage(swarm, id);
  const messages = [...question, ...messagesOf(id, job.events), ...writtenText(id, job)];
  const isAnswering = id !== null && !/^(completed|failed|cancelled)$/.test(job.status ?? "");

  async function perform(action: () => Promise<unknown>) {
    setProblem(null);
    try {
      await action();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }

  function send(event: FormEvent) {
    event.preventDefault();
    const text = draft.trim();
    if (text === "" || isAnswering) return;
    void perform(async () => {
      if (id === null) {
        const started = await swarm.run(agent, text, { watch: true });
        setStartedId(started.id);
        onStart?.(started.id);
      } else {
        await job.continue(text);
      }
      setDraft("");
    });
  }

  return (
    <section aria-label="Conversation" className="flex flex-col gap-4">
      <ol role="log" aria-busy={isAnswering} className="flex flex-col gap-3">
        {messages.map(({ key, role, text }) => (
          <li
            key={key}
            className={`max-w-prose whitespace-pre-wrap rounded-lg px-3 py-2 text-sm ${
              role === "user" ? "self-end bg-primary text-primary-foreground" : "bg-muted"
            }`}
          >
            <span className="sr-only">{role === "user" ? "You: " : "Agent: "}</span>
            {text}
          </li>
        ))}
      </ol>
      {job.reviews.map((review) => (
        <ReviewCard
          key={`${review.task_id}:${review.seq}`}
          review={review}
          onRespond={job.respond}
        />
      ))}
      <p role="alert" className="text-sm text-destructive empty:hidden">
        {problem ?? job.error?.message ?? ""}
      </p>
      <form onSubmit={send} className="flex gap-2">
        <label htmlFor={fieldId} className="sr-only">Message</label>
        <input
          id={fieldId}
          value={draft}
          autoComplete="off"
          placeholder="Message"
          onChange={(event) => setDraft(event.currentTarget.value)}
          className="min-w-0 flex-1 rounded-md border border-input bg-background px-3 py-2 text-sm"
        />
        {isAnswering
          ? (
            <button
              type="button"
              onClick={() => void perform(() => job.stop())}
              className="rounded-md border border-border px-3 py-2 text-sm"
            >
              Stop
            </button>
          )
          : (
            <button
              type="submit"
              className="rounded-md bg-primary px-3 py-2 text-sm text-primary-foreground"
            >
              Send
            </button>
          )}
      </form>
    </section>
  );
}

/** What the user began with; events do not have it. */
function useFirstMessage(swarm: Swarm, id: string | null): readonly Message[] {
  const [first, setFirst] = useState<readonly Message[]>([]);
  useEffect(() => {
    setFirst([]);
    if (id === null) return;
    const stop = new AbortController();
    swarm.job(id).input({ signal: stop.signal })
      .then((input) => setFirst([{ key: "first", role: "user", text: textOf(input) }]))
      // The job's own error is shown.
      .catch(() => {});
    return () => stop.abort();
  }, [swarm, id]);
  return first;
}

function messagesOf(id: string | null, events: readonly JobEvent[]): Message[] {
  return events.filter((event) => event.task_id === id).flatMap((event): Message[] => {
    const key = String(event.id);
    if (event.type === "task.resumed" && event.data.reason === "continued") {
      return [{ key, role: "user", text: textOf(event.data.input) }];
    }
    if (event.type === "model.completed" && event.data.text && !isSummary(event)) {
      return [{ key, role: "assistant", text: event.data.text }];
    }
    if (event.type === "task.completed" && !endsWithText(id, events, event)) {
      return [{ key, role: "assistant", text: textOf(event.data.output ?? null) }];
    }
    return [];
  });
}

/** Whether the output is the last answer, which is shown already. */
function endsWithText(id: string | null, events: readonly JobEvent[], end: JobEvent): boolean {
  const answers = events.slice(0, events.indexOf(end)).flatMap((event) =>
    event.type === "model.completed" && event.task_id === id ? [event.data.text ?? ""] : []
  );
  return end.type === "task.completed" && answers.at(-1) !== "" &&
    answers.at(-1) === end.data.output;
}

function isSummary(event: JobEvent): boolean {
  return event.type === "model.completed" && event.data.summarizes_through !== undefined;
}

/** The answer that is being written. */
function writtenText(
  id: string | null,
  { events, text, textStep }: {
    readonly events: readonly JobEvent[];
    readonly text: string;
    readonly textStep: number | null;
  },
): Message[] {
  const isWritten = events.some((event) =>
    event.task_id === id && event.type === "model.completed" && event.data.step_seq === textStep
  );
  return text === "" || isWritten ? [] : [{ key: "written", role: "assistant", text }];
}

function textOf(value: Json): string {
  return typeof value === "string" ? value : readableJson(value);
}
