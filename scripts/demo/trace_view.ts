import type { JobEvent } from "../../client/mod.ts";
import { bold, cyan, dim, green, red, writeLine, yellow } from "../terminal.ts";

const MAX_TEXT_LENGTH = 100;

/** Prints the trace of a job as text: time, agent, event. */
export class TraceView {
  #startedAtMs = performance.now();
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  show(event: JobEvent): void {
    const { task_id } = event;
    if (event.type === "task.created") this.#name(task_id, event.data.agent);
    const line = describe(event);
    if (line === null) return;
    const seconds = ((performance.now() - this.#startedAtMs) / 1000).toFixed(2).padStart(6);
    const name = this.#names.get(task_id) ?? "task";
    writeLine(`${dim(`${seconds}s`)}  ${cyan(name.padEnd(9))}  ${line}`);
  }

  say(text: string): void {
    writeLine(bold(text));
  }

  /** Prints a heading. Times count from here. */
  begin(title: string): void {
    this.say(`\n${title}`);
    this.#startedAtMs = performance.now();
  }

  /** Agents that work on several tasks are numbered: reader 1, reader 2, … */
  #name(taskId: string, agent: string): void {
    if (this.#names.has(taskId)) return;
    const count = (this.#counts.get(agent) ?? 0) + 1;
    this.#counts.set(agent, count);
    this.#names.set(taskId, agent === "planner" ? agent : `${agent} ${count}`);
  }
}

/** Describes an event in one line; null for those that say nothing to a reader. */
export function describe({ type, data }: JobEvent): string | null {
  switch (type) {
    case "model.completed":
      return data.text ? `${dim("thinks")}  ${short(data.text)}` : null;
    case "tool.started":
      return `${dim("calls")}   ${data.name} ${short(JSON.stringify(data.arguments ?? {}))}`;
    case "tool.completed":
      // The data of a result above 1 MiB is neither sent nor read with its event.
      return `${green("has")}     ${data.name ?? "a result"}: ${
        data.text === undefined ? "stored with its step" : short(data.text)
      }`;
    case "tool.failed":
      return `${red("fails")}   ${data.name ?? data.server}: ${
        short(data.error_code ?? data.text)
      }`;
    case "skill.loaded":
      return `${green("loads")}   skill ${data.skill_id}`;
    case "data.saved":
      return `${green("saves")}   ${data.key}${
        data.storage_path ? ` at ${data.storage_path}` : ""
      }`;
    case "subtask.created":
      return `${yellow("hands")}   off to ${data.agent}`;
    case "subtask.finished":
      return `${green("gets")}    ${data.agent}'s result: ${data.status}`;
    case "review.requested":
      return `${yellow("asks")}    ${short(data.question)}`;
    case "review.answered":
      return `${green("hears")}   ${data.approved ? "approved" : "not approved"}: ${
        short(data.comments)
      }`;
    case "task.parked":
      return `${dim("waits")}   ${data.status}`;
    case "task.retried":
      return `${yellow("retries")} ${short(JSON.stringify(data.error))}`;
    case "task.completed":
      return green("completed");
    case "task.failed":
      return `${red("failed")}  ${short(JSON.stringify(data.error))}`;
    case "task.cancelled":
      return yellow("cancelled");
    default:
      return null;
  }
}

function short(value: unknown): string {
  const text = String(value ?? "").replace(/\s+/g, " ").trim();
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH - 1)}…` : text;
}
