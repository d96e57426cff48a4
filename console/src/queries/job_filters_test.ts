import { describe, expect, test } from "vitest";
import { filtersOf, metadataPairs, minuteOf, queryOf } from "./job_filters.ts";
import { shortId } from "../format/numbers.ts";
import { requestOf } from "./jobs.ts";

describe("the filters of a list of jobs", () => {
  const query = {
    status: "failed,cancelled",
    agent: "writer",
    errorCode: "MODEL_TIMEOUT",
    metadata: "team=docs, tries=5",
    id: "312F3DE8",
    from: "2026-11-01",
    minCost: "$0.05",
    maxCost: "2",
  };

  test("survive a round trip through the address", () => {
    const filters = filtersOf(query);
    expect(filtersOf(queryOf(filters) as never)).toEqual(filters);
  });

  test("are sent in the units of the client", () => {
    expect(requestOf(filtersOf(query))).toMatchObject({
      status: ["failed", "cancelled"],
      agent: "writer",
      errorCode: "MODEL_TIMEOUT",
      metadata: { team: "docs", tries: "5" },
      idPrefix: "312f3de8",
      createdFrom: new Date("2026-11-01T00:00:00").toISOString(),
      minCostMicroUsd: 50_000,
      maxCostMicroUsd: 2_000_000,
    });
  });

  test.each([
    ["019aac3e…9c3f", { idPrefix: "019aac3e", idSuffix: "9c3f" }],
    ["019AAC3E...9C3F", { idPrefix: "019aac3e", idSuffix: "9c3f" }],
    ["…9c3f", { idSuffix: "9c3f" }],
    ["019aac3e…", { idPrefix: "019aac3e" }],
    ["…", {}],
    ["9c3f…zz", {}],
  ])("find an ID by its ends in the form that lists show: %s", (id, request) => {
    expect(requestOf(filtersOf({ id }))).toEqual(request);
    expect(requestOf(filtersOf({ id: shortId("019aac3e-0b7f-7c3e-8a51-2f6e1d0b9c3f") }))).toEqual(
      { idPrefix: "019aac3e", idSuffix: "9c3f" },
    );
  });

  test("name an owner only in the list of all jobs", () => {
    const owned = { owner: "ada@example.test" };
    expect(filtersOf(owned).owner).toBe("");
    expect(filtersOf(owned, "all")).toMatchObject(owned);
  });

  test("are ignored if they are malformed", () => {
    const wrong = { id: "zz", from: "soon", minCost: "much", maxCost: "-1", metadata: "=x,plain" };
    expect(requestOf(filtersOf(wrong))).toEqual({});
    expect(metadataPairs("a=b=c")).toEqual({ a: "b=c" });
  });
});

test.each([
  ["2026-11-27T10:30", "2026-11-27T10:30"],
  ["2026-11-27", ""],
  ["2026-13-27T10:30", ""],
  [["2026-11-27T10:30", "2026-11-27T10:31"], ""],
  [undefined, ""],
])("a list begins at a minute, and not at %j", (given, minute) => {
  expect(minuteOf(given)).toBe(minute);
});

test("only the list of all jobs has an owner and a cause", () => {
  const query = { owner: "ada@example.test", cause: "No answer for # s" };
  expect(filtersOf(query, "all")).toMatchObject(query);
  expect(filtersOf(query)).toMatchObject({ owner: "", cause: "" });
});
