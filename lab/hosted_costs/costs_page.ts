import { markdownTable } from "../../scripts/markdown/markdown_table.ts";
import { fillSection } from "../../scripts/markdown/fill_section.ts";
import { type JobCost, monthlyUsd, type MonthlyUse, monthlyUse } from "./monthly_use.ts";
import { type Plan, PLANS, PLANS_AS_OF, type Resource } from "./plans.ts";

const LOADS = [1_000, 100_000].flatMap((jobsPerDay) =>
  [0, 1].map((watchedShare) => ({ jobsPerDay, watchedShare }))
);
const RESOURCES: readonly Resource[] = [
  "million invocations",
  "million messages",
  "GB of database",
  "GB of egress",
];

/** Writes the tables of the page from what one job costs. */
export function costsPage(page: string, job: JobCost, emptyBytes: number): string {
  const sections = {
    job: jobTable(job),
    month: monthTable(job, emptyBytes),
    plans: planTable(),
  };
  return Object.entries(sections)
    .reduce((text, [name, content]) => fillSection(text, name, content), page);
}

function jobTable(job: JobCost): string {
  const keptBytes = job.jobBytes + job.stepBytes + job.eventBytes + job.ledgerBytes +
    job.modelCallBytes;
  return markdownTable(["a job of eight steps", "costs"], [
    ["function invocations", String(job.invocations)],
    ["processor time of the database", `${text(job.databaseCpuMs)} ms`],
    ["processor time of functions", `${text(job.functionCpuMs)} ms`],
    ["rows kept", `${text(keptBytes / 1_000)} kB`],
    ["Realtime messages, nobody watches", "0"],
    ["Realtime messages, one client watches", text(2 * job.sentMessages)],
    ["prompts to the model's provider", `${text(job.promptBytes / 1_000)} kB`],
    ["its trace to one reader", `${text(job.traceBytes / 1_000)} kB`],
  ]);
}

function monthTable(job: JobCost, emptyBytes: number): string {
  const uses = LOADS.map((load) => monthlyUse(job, load, emptyBytes));
  const row = (name: string, cell: (use: MonthlyUse) => string) => [name, ...uses.map(cell)];
  return markdownTable(
    [
      "a month",
      ...LOADS.map(({ jobsPerDay, watchedShare }) =>
        `${jobsPerDay.toLocaleString("en-US")} jobs a day, ${
          watchedShare === 0 ? "unwatched" : "each watched"
        }`
      ),
    ],
    [
      ...RESOURCES.map((resource) => row(resource, ({ counts }) => text(counts[resource]))),
      row("messages a second, mean", (use) => text(use.messagesPerSecond)),
      row("share of a database core", (use) => percent(use.databaseCpuShare)),
      row("share of a function core", (use) => percent(use.functionCpuShare)),
      ...PLANS.map((plan) => row(`on ${plan.name}`, (use) => price(use, plan))),
    ],
  );
}

function price(use: MonthlyUse, plan: Plan): string {
  const usd = monthlyUsd(use, plan);
  return usd === null ? `not possible: ${missing(use, plan)}` : `$${usd.toFixed(2)}`;
}

function missing({ counts }: MonthlyUse, plan: Plan): string {
  return RESOURCES
    .filter((resource) => counts[resource] > plan.limits[resource].included)
    .map((resource) => resource.replace(/^.* /, ""))
    .join(", ");
}

function planTable(): string {
  return markdownTable(
    [`as of ${PLANS_AS_OF}`, ...PLANS.map(({ name, baseUsd }) => `${name}, $${baseUsd} a month`)],
    [
      ...RESOURCES.map((resource) => [
        resource,
        ...PLANS.map(({ limits }) => {
          const { included, usdPerUnit } = limits[resource];
          return usdPerUnit === null ? String(included) : `${included}, then $${usdPerUnit} each`;
        }),
      ]),
      ["messages a second", ...PLANS.map(({ messagesPerSecond }) => String(messagesPerSecond))],
    ],
  );
}

/** Two digits are as much as the inputs allow. */
function text(value: number): string {
  return Number(value.toPrecision(2)).toLocaleString("en-US", { maximumFractionDigits: 20 });
}

function percent(share: number): string {
  return `${text(100 * share)} %`;
}
