import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { TableChange } from "./change_data.ts";
import { parseChangeFilter } from "./change_filter.ts";
import { type Conditions, filterError } from "./check_rows.ts";
import type { Identity } from "./identity.ts";
import type { ChangeRequest } from "./join_request.ts";
import { publishedTables, type TableShape } from "./table_shape.ts";
import type { Subscriber } from "./topic_hub.ts";

/** A client's binding, with the id in its messages. */
export interface ChangeBinding {
  readonly id: number;
  readonly request: ChangeRequest;
}

/** A subscriber to changes, with its topic. */
export interface ChangeSubscriber extends Subscriber {
  /** The topic without `realtime:`. */
  readonly topic: string;
}

/** An active binding. */
export interface ChangeSubscription {
  readonly id: number;
  readonly subscriber: ChangeSubscriber;
  readonly identity: Identity;
  /** A name or `*`. */
  readonly schema: string;
  /** A name or `*`. */
  readonly table: string;
  readonly event: "*" | TableChange["type"];
  readonly conditions: Conditions;
  /** Names of columns; `null` for all. */
  readonly selected: readonly string[] | null;
}

/** The result of a subscription. */
export type SubscribeOutcome =
  | { readonly kind: "subscribed" }
  | { readonly kind: "refused"; readonly message: string };

const EVENTS = ["INSERT", "UPDATE", "DELETE"] as const;
const NOT_PUBLISHED = "Please check Realtime is enabled for the given connect parameters";

/**
 * Manages subscriptions to tables. It also writes them to `realtime.subscription`, where the
 * tables' triggers check whether there are subscribers.
 */
export class ChangeHub {
  readonly #sql: Sql;
  readonly #active = new Map<ChangeSubscriber, ActiveSubscriptions>();
  #lastId = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Deletes the subscriptions of an earlier server process from the database. */
  async reset(): Promise<void> {
    await this.#sql`delete from realtime.subscription`;
  }

  /** Assigns an id to each binding, in the order of the requests. */
  bind(requests: readonly ChangeRequest[]): ChangeBinding[] {
    return requests.map((request) => ({ id: ++this.#lastId, request }));
  }

  /** Replaces the subscriber's bindings. Activates all of them or none. */
  async subscribe(
    subscriber: ChangeSubscriber,
    bindings: readonly ChangeBinding[],
    identity: Identity,
  ): Promise<SubscribeOutcome> {
    if (bindings.length === 0) return { kind: "subscribed" };
    const subscriptions: ChangeSubscription[] = [];
    const tables = new Set<string>();
    for (const binding of bindings) {
      const checked = await this.#check(subscriber, binding, identity);
      if (typeof checked === "string") return { kind: "refused", message: checked };
      subscriptions.push(checked.subscription);
      for (const { quoted } of checked.tables) tables.add(quoted);
    }
    const key = crypto.randomUUID();
    await this.#sql`
      insert into realtime.subscription (subscription_id, entity, claims)
      select ${key}, value::regclass, ${this.#sql.json(identity.claims)}
      from jsonb_array_elements_text(${JSON.stringify([...tables])}::text::jsonb)`;
    // Unsubscribe only now, so that there is no gap when a new token replaces the old one.
    this.unsubscribe(subscriber);
    this.#active.set(subscriber, { key, subscriptions });
    return { kind: "subscribed" };
  }

  /** Removes the subscriber's bindings. */
  unsubscribe(subscriber: ChangeSubscriber): void {
    const active = this.#active.get(subscriber);
    if (active === undefined) return;
    this.#active.delete(subscriber);
    // Ignore a failure: then a trigger only records unneeded changes until the next start.
    this.#sql`delete from realtime.subscription where subscription_id = ${active.key}`
      .catch(() => {});
  }

  /** Returns the subscriptions to such a change. */
  subscriptionsTo(change: Pick<TableChange, "schema" | "table" | "type">): ChangeSubscription[] {
    return [...this.#active.values()].flatMap(({ subscriptions }) =>
      subscriptions.filter(({ schema, table, event }) =>
        ["*", change.schema].includes(schema) && ["*", change.table].includes(table) &&
        ["*", change.type].includes(event)
      )
    );
  }

  async #check(
    subscriber: ChangeSubscriber,
    { id, request }: ChangeBinding,
    identity: Identity,
  ): Promise<{ subscription: ChangeSubscription; tables: readonly TableShape[] } | string> {
    const filter = parseChangeFilter(request.filter);
    if (filter.kind === "invalid") return filter.reason;
    const { conditions } = filter;
    const event: ChangeSubscription["event"] =
      EVENTS.find((known) => known === request.event?.toUpperCase()) ?? "*";
    const schema = request.schema ?? "public";
    const table = request.table ?? "*";
    const selected = request.select?.length ? request.select : null;
    const tables = await publishedTables(this.#sql, { role: identity.role, schema, table });
    const refuse = (reason: string) =>
      `Unable to subscribe to changes with given parameters. ${reason}: ` +
      `[event: ${event}, schema: ${schema}, table: ${table}, filters: ${request.filter ?? "[]"}]`;
    if (tables.length === 0) return refuse(NOT_PUBLISHED);
    for (const shape of tables) {
      const refusal = selectionError(shape, selected) ??
        await filterError(this.#sql, { table: shape, identity, conditions });
      if (refusal !== null) return refuse(`An exception happened: ${refusal}`);
    }
    const subscription = { id, subscriber, identity, schema, table, event, conditions, selected };
    return { subscription, tables };
  }
}

interface ActiveSubscriptions {
  /** The `subscription_id` of the subscriber's rows in `realtime.subscription`. */
  readonly key: string;
  readonly subscriptions: readonly ChangeSubscription[];
}

function selectionError(table: TableShape, selected: readonly string[] | null): string | null {
  const unknown = selected?.find((name) =>
    !table.columns.some((column) => column.name === name && column.isSelectable)
  );
  return unknown === undefined ? null : `invalid column for select ${unknown}`;
}
