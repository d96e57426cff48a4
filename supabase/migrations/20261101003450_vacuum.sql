-- Rows of the queue live for seconds. By default autovacuum waits until a fifth of a table is dead; for a
-- queue that is empty between bursts, that fifth would depend on an outdated size.

alter table pgmq.q_agent_tasks set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000
);
alter table private.wake_gate set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500
);
alter table private.job_totals set (autovacuum_vacuum_scale_factor = 0.02);
