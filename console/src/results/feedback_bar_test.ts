import { mount } from "@vue/test-utils";
import { expect, test } from "vitest";
import FeedbackBar from "./FeedbackBar.vue";

test("FeedbackBar sends a thumb, stars and a comment separately", async () => {
  const bar = mount(FeedbackBar, { props: { grade: null } });
  await bar.find('[aria-label="Bad"]').trigger("click");
  await bar.find('[aria-label="4 stars"]').trigger("click");
  await bar.find("input").setValue("  too slow  ");
  await bar.find("form").trigger("submit");
  expect(bar.emitted("feedback")).toEqual([
    [{ rating: "down" }],
    [{ score: 4 }],
    [{ comment: "too slow" }],
  ]);
});

test("FeedbackBar shows an earlier grade", () => {
  const grade = { rating: "up" as const, rating_score: 3, comment: "fine" };
  const bar = mount(FeedbackBar, { props: { grade } });
  expect(bar.find('[aria-label="Good"]').attributes("aria-pressed")).toBe("true");
  expect(bar.find('[aria-label="3 stars"]').attributes("aria-pressed")).toBe("true");
  expect((bar.find("input").element as HTMLInputElement).value).toBe("fine");
});
