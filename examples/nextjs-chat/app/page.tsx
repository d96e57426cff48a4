"use client";

import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { useJob } from "supaswarm/react";
import { signIn, swarm } from "../lib/swarm";

/** A chat with one agent. The job's id is in the address, so a reload goes on. */
export default function Page(): ReactNode {
  const [id, setId] = useState<string | null>(null);
  const { respond, ...job } = useJob<{ announcement: string }>(swarm, id);
  const isAnswering = id !== null && !/completed|failed|cancelled/.test(job.status ?? "");
  useEffect(() => setId(location.hash.slice(1) || null), []);

  async function send(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const message: string = event.currentTarget.message.value;
    event.currentTarget.reset();
    if (id !== null) return await job.continue(message);
    await signIn();
    const started = await swarm.run("writer", { topic: message }, { watch: true });
    location.hash = started.id;
    setId(started.id);
  }

  return (
    <main>
      <p role="log">{job.result?.announcement ?? job.text}</p>
      {job.reviews.map((review) => (
        <fieldset key={review.task_id}>
          <legend>{review.question}</legend>
          <pre>{JSON.stringify(review.context, null, 2)}</pre>
          <button onClick={() => respond(review, { approved: true })}>Approve</button>
          <button onClick={() => respond(review, { approved: false })}>Reject</button>
        </fieldset>
      ))}
      {job.error && <p role="alert">{job.error.message}</p>}
      <form onSubmit={send}>
        <input name="message" aria-label="Message" required disabled={isAnswering} />
        <button type="submit" disabled={isAnswering}>Send</button>
        {isAnswering && <button type="button" onClick={() => job.stop()}>Stop</button>}
      </form>
    </main>
  );
}
