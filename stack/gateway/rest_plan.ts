import { boxJsonValues } from "./json_values.ts";
import type { LiteSchema, RestPlan } from "./lite_contract.ts";

/**
 * Changes the service's plan of a REST request to match a hosted project.
 *
 * @throws Error with SQLSTATE 21000 for an update or delete of a whole table, which hosted
 * projects refuse (extension `safeupdate`).
 */
export function adaptRestPlan(plan: RestPlan, schema: LiteSchema): RestPlan {
  const isWhole = plan.where === undefined || Object.keys(plan.where).length === 0;
  if (isWhole && plan.schema !== "storage" && (plan.type === "update" || plan.type === "delete")) {
    const message = `${plan.type.toUpperCase()} requires a WHERE clause`;
    throw Object.assign(new Error(message), { code: "21000" });
  }
  return boxJsonValues(plan, schema);
}
