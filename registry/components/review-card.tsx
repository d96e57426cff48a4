"use client";

import { type FormEvent, type ReactNode, useId, useState } from "react";
import { type Json, type OpenReview, readableJson, type ReviewAnswer } from "supaswarm/client";

export interface ReviewCardProps {
  readonly review: OpenReview;
  readonly onRespond: (review: OpenReview, answer: ReviewAnswer) => Promise<unknown>;
}

/** One open review: its question, its options, a comment, and two buttons. */
export function ReviewCard({ review, onRespond }: ReviewCardProps): ReactNode {
  const id = useId();
  const [choice, setChoice] = useState(0);
  const [comments, setComments] = useState("");
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const options = review.options ?? [];

  async function send(approved: boolean) {
    setSending(true);
    setProblem(null);
    try {
      await onRespond(review, {
        approved,
        ...options.length > 0 && { choice: options[choice] ?? null },
        ...comments.trim() !== "" && { comments: comments.trim() },
      });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setSending(false);
    }
  }

  function approve(event: FormEvent) {
    event.preventDefault();
    void send(true);
  }

  return (
    <form
      onSubmit={approve}
      aria-labelledby={`${id}-question`}
      className="flex flex-col gap-3 rounded-lg border border-border bg-card p-4 text-card-foreground"
    >
      <p id={`${id}-question`} className="whitespace-pre-wrap text-sm font-medium">
        {review.question}
      </p>
      {review.context !== null && (
        <pre
          tabIndex={0}
          aria-label="Context"
          className="max-h-60 overflow-auto rounded-md bg-muted p-3 text-xs"
        >
          {textOf(review.context)}
        </pre>
      )}
      {options.length > 0 && (
        <fieldset className="flex flex-col gap-1" disabled={isSending}>
          <legend className="sr-only">Options</legend>
          {options.map((option, index) => (
            <label key={textOf(option)} className="flex items-center gap-2 text-sm">
              <input
                type="radio"
                name={`${id}-choice`}
                checked={choice === index}
                onChange={() =>
                  setChoice(index)}
              />
              {textOf(option)}
            </label>
          ))}
        </fieldset>
      )}
      <label htmlFor={`${id}-comments`} className="text-xs text-muted-foreground">
        Comments for the agent
      </label>
      <textarea
        id={`${id}-comments`}
        rows={2}
        value={comments}
        disabled={isSending}
        onChange={(event) => setComments(event.currentTarget.value)}
        className="rounded-md border border-input bg-background px-3 py-2 text-sm"
      />
      {problem !== null && <p role="alert" className="text-sm text-destructive">{problem}</p>}
      <div className="flex gap-2">
        <button
          type="submit"
          disabled={isSending}
          className="rounded-md bg-primary px-3 py-1.5 text-sm text-primary-foreground disabled:opacity-50"
        >
          Approve
        </button>
        <button
          type="button"
          disabled={isSending}
          onClick={() => void send(false)}
          className="rounded-md border border-border px-3 py-1.5 text-sm disabled:opacity-50"
        >
          Reject
        </button>
      </div>
    </form>
  );
}

function textOf(value: Json): string {
  return typeof value === "string" ? value : readableJson(value);
}
