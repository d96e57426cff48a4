import type { JsonObject } from "../../shared/platform/values/json.ts";
import {
  findOutcomes,
  isObject,
  readInput,
  type ScriptedAgent,
  type ScriptedAnswer,
  type ScriptedRequest,
} from "./scripted_agent.ts";

/** Plays the seeded agent `writer`: drafts an announcement, asks a person, and completes. */
export const writerAgent: ScriptedAgent = {
  name: "writer",
  plays: ({ system }) => system.startsWith("You write a short announcement"),
  answer: (request) => {
    const draft = writeDraft(readTopic(request));
    const [review] = findOutcomes(request, "request_human_review");
    if (review === undefined) return askForReview(draft);
    const answer = isObject(review.json) ? review.json : {};
    const isApproved = answer.approved === true;
    const comments = typeof answer.comments === "string" ? answer.comments : null;
    return complete({ announcement: isApproved ? draft : null, review: comments });
  },
};

function writeDraft(topic: string): string {
  const sentence = topic.charAt(0).toUpperCase() + topic.slice(1);
  return `${sentence}. Try it today and tell us what you think.`;
}

function askForReview(draft: string): ScriptedAnswer {
  return {
    text: "The draft is ready. A person should approve it.",
    toolCalls: [{
      name: "request_human_review",
      arguments: { question: "Publish this announcement?", context: { draft } },
    }],
  };
}

function complete(output: JsonObject): ScriptedAnswer {
  return { toolCalls: [{ name: "complete_task", arguments: { output } }] };
}

/** @throws Error when the input names no topic. */
function readTopic(request: ScriptedRequest): string {
  const input = readInput(request);
  const topic = isObject(input) ? input.topic : input;
  if (typeof topic === "string" && topic.trim() !== "") return topic.trim().replace(/\.$/, "");
  throw new Error('This agent needs an input such as {"topic": "our API has webhooks"}');
}
