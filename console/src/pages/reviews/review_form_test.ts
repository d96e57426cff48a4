import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { flushPromises, mount, type VueWrapper } from "@vue/test-utils";
import { QueryClient, VueQueryPlugin } from "@tanstack/vue-query";
import type { Review } from "../../queries/reviews.ts";
import { type FakeProject, json, openFakeProject } from "../../testing/fake_project.ts";
import ReviewForm from "./ReviewForm.vue";

const RESPOND = "/rest/v1/rpc/respond_to_review";
const QUESTION: Review = {
  id: "r1",
  task_id: "t1",
  seq: 2,
  kind: "question",
  question: "Publish it?",
  context: null,
  options: ["Now", "Later"],
  created_at: "2026-11-24T10:00:00Z",
  answered_at: null,
  approved: null,
  response: {},
  comments: null,
  answered_epoch: null,
  reopened_at: null,
  reopened_by: null,
  task: {
    id: "t1",
    master_task_id: "t1",
    agent_slug: "a",
    status: "needs_human_review",
    parent_id: null,
    epoch: 1,
    run_after: null,
  },
};
const CALL: Review = {
  ...QUESTION,
  kind: "call",
  question: "May the agent call the tool?",
  options: null,
  context: {
    server: "bank",
    tool: "pay",
    destination: "bank.example.com",
    reasons: ["rule"],
    arguments: { amount: 500 },
    input_schema: {
      type: "object",
      properties: { amount: { type: "integer", maximum: 1000 } },
      required: ["amount"],
    },
    shown: null,
  },
};

let project: FakeProject;
let form: VueWrapper;

function open(review: Review, isClosed = false): void {
  form = mount(ReviewForm, {
    attachTo: document.body,
    props: { review, isClosed },
    global: {
      plugins: [[VueQueryPlugin, { queryClient: new QueryClient() }]],
      stubs: { RouterLink: true },
    },
  });
}

/** The bodies of the answers that were sent. */
function sent(): unknown[] {
  return project.requests.filter(({ path }) => path === RESPOND).map(({ body }) => body);
}

async function approve(): Promise<void> {
  await form.get("form").trigger("submit");
  await flushPromises();
}

beforeEach(() => {
  project = openFakeProject(({ path }) => json(path === RESPOND ? "pending" : []));
});

afterEach(() => {
  form.unmount();
  vi.unstubAllGlobals();
});

describe("the review form", () => {
  test("approves a review with options only with one of them", async () => {
    open(QUESTION);
    await approve();
    expect(sent()).toEqual([]);
    expect(form.get("[role=alert]").text()).toBe("Choose an answer to approve.");

    await form.get("input[value=Later]").setValue();
    await approve();
    expect(sent()).toEqual([{
      p_task_id: "t1",
      p_approved: true,
      p_response: { choice: "Later" },
      p_seq: 2,
    }]);
  });

  test("rejects without a choice", async () => {
    open(QUESTION);
    await form.get("button.danger").trigger("click");
    await flushPromises();
    expect(sent()).toEqual([{ p_task_id: "t1", p_approved: false, p_response: {}, p_seq: 2 }]);
  });

  test("shows a call with its tool, and sends the arguments that the person changed", async () => {
    open(CALL);
    expect(form.get("fieldset.call").text()).toContain("pay (bank, sent to bank.example.com)");

    const amount = form.get<HTMLInputElement>("fieldset.call input");
    expect(amount.element.value).toBe("500");
    await amount.setValue("5000");
    await approve();
    expect(sent()).toEqual([]);

    await amount.setValue("5");
    await approve();
    expect(sent()).toEqual([
      {
        p_task_id: "t1",
        p_approved: true,
        p_response: { arguments: { amount: 5 } },
        p_hold_seconds: 5,
        p_seq: 2,
      },
    ]);
  });

  test("keeps what was entered when somebody else answers, says who, and sends nothing", async () => {
    project.answer = ({ path }) =>
      json(
        path === "/rest/v1/human_reviews"
          ? [{
            approved: true,
            response: { choice: "Now" },
            answered_as: "client",
            client_id: "app",
          }]
          : [],
      );
    open(QUESTION);
    const comment = form.get<HTMLTextAreaElement>("textarea");
    comment.element.focus();
    await comment.setValue("Not before noon");

    await form.setProps({ isClosed: true });
    await vi.waitFor(() =>
      expect(form.get("[role=status]").text()).toContain(
        "The application app approved it with the choice “Now”.",
      )
    );
    expect(comment.element.value).toBe("Not before noon");
    expect(document.activeElement).toBe(comment.element);
    await form.get("input[value=Later]").setValue();
    await approve();
    expect(sent()).toEqual([]);
  });
});
