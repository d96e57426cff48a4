import type { NewFile } from "../project/file_changes.ts";

/** The agent that `init` adds, so that a project has something to run. The README starts it. */
export const STARTER_AGENT = "writer";

const AGENT = `---
name: ${STARTER_AGENT}
description: Writes a short announcement, asks a person to approve it, and answers with the approved text.
provider: openai
handoffs: none
input_schema:
  type: object
  properties: { topic: { type: string, minLength: 1 } }
  required: [topic]
output_schema:
  type: object
  properties: { announcement: { type: [string, "null"] } }
  required: [announcement]
  additionalProperties: false
---

You write a short announcement about the topic in the input.
1. Write a draft of two sentences.
2. Ask a person to approve it with request_human_review; the context is {"draft": "<the draft>"}.
3. If it is approved, make the changes that the comments request, and finish with complete_task and
   the output {"announcement": "<the text>"}.
4. If it is rejected, finish with complete_task and the output {"announcement": null}.
`;

const SCRIPT =
  `# Answers for the agent while its provider has no key. The first rule that applies answers.
- when: { first: true }
  say: The draft is ready. A person should approve it.
  call:
    - tool: request_human_review
      arguments:
        question: Publish this announcement?
        context: { draft: "News: {{input.topic}}. Try it today and tell us what you think." }
- when: { result_of: request_human_review, matches: '"approved":\\s*true' }
  output: { announcement: "News: {{input.topic}}. Try it today and tell us what you think." }
- output: { announcement: null }
`;

const EVALS = `# Tests of the agent: npx supaswarm eval ${STARTER_AGENT}
tests:
  - description: publishes what a person approves
    vars: { topic: our API has webhooks }
    assert:
      - type: review # a person is asked, and the command answers this
        value: { approved: true }
      - { type: icontains, value: webhooks }
  - description: keeps what a person rejects
    vars: { topic: our API has webhooks }
    assert:
      - { type: review, value: { approved: false } }
      - { type: equals, value: { announcement: null } }
`;

/** The starter's agent, its script and its tests. */
export const STARTER_FILES: readonly NewFile[] = [
  { path: `agents/${STARTER_AGENT}.md`, text: AGENT },
  { path: `agents/${STARTER_AGENT}.script.yaml`, text: SCRIPT },
  { path: `agents/${STARTER_AGENT}.evals.yaml`, text: EVALS },
];
