/** What a plan of hosted Supabase includes in a month, and what more costs. */
export interface Plan {
  readonly name: string;
  readonly baseUsd: number;
  /** One charge for each unit above `included`; null: the plan sells no more. */
  readonly limits: Readonly<Record<Resource, Limit>>;
  /** Realtime messages per second above which it drops broadcasts. */
  readonly messagesPerSecond: number;
}

/** What hosted Supabase counts, each in the unit of its price. */
export type Resource =
  | "million invocations"
  | "million messages"
  | "GB of database"
  | "GB of egress";

export interface Limit {
  readonly included: number;
  readonly usdPerUnit: number | null;
}

/** When the limits were read. */
export const PLANS_AS_OF = "2026-11-27";

/** A new project has 40 to 60 MB before the migrations. */
export const NEW_PROJECT_BYTES = 50e6;

/** As of {@linkcode PLANS_AS_OF}, from https://supabase.com/pricing and "Manage your usage". */
export const PLANS: readonly Plan[] = [
  {
    name: "Free",
    baseUsd: 0,
    limits: {
      "million invocations": { included: 0.5, usdPerUnit: null },
      "million messages": { included: 2, usdPerUnit: null },
      "GB of database": { included: 0.5, usdPerUnit: null },
      "GB of egress": { included: 5, usdPerUnit: null },
    },
    messagesPerSecond: 100,
  },
  {
    name: "Pro",
    baseUsd: 25,
    limits: {
      "million invocations": { included: 2, usdPerUnit: 2 },
      "million messages": { included: 5, usdPerUnit: 2.5 },
      "GB of database": { included: 8, usdPerUnit: 0.125 },
      "GB of egress": { included: 250, usdPerUnit: 0.09 },
    },
    messagesPerSecond: 500,
  },
];
