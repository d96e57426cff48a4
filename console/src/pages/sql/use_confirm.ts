import { readonly, type Ref, shallowRef } from "vue";
import { approveStatement } from "../../queries/statements.ts";
import type { StatementAnswer } from "./statement_answer.ts";
import type { SqlWork } from "./use_sql_work.ts";

/** A planned write that waits for the user's confirmation. */
export interface Confirming {
  readonly pending: Readonly<Ref<StatementAnswer | null>>;
  ask(planned: StatementAnswer): void;
  dismiss(): void;
  /** Runs exactly the planned write, and approves it where the policy demands that. */
  confirm(): Promise<void>;
}

export function useConfirm(work: SqlWork): Confirming {
  const pending = shallowRef<StatementAnswer | null>(null);
  return {
    pending: readonly(pending) as Readonly<Ref<StatementAnswer | null>>,
    ask: (planned) => void (pending.value = planned),
    dismiss: () => void (pending.value = null),
    async confirm() {
      const write = pending.value;
      pending.value = null;
      if (write?.next_call === undefined) return;
      const { next_call: nextCall, needs_approval: needsApproval, confirmation_id: id } = write;
      await work.start("running", async () => {
        if (needsApproval === true && id !== undefined) await approveStatement(id);
        await work.call("execute_sql", nextCall);
      });
    },
  };
}
