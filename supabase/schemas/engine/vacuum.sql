-- Rows of the queue live for seconds. By default autovacuum waits until a fifth of a table is dead; for a
-- queue that is empty between bursts, that fifth would depend on an outdated size.

alter table private.wake_gate set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500
);
alter table private.job_totals set (autovacuum_vacuum_scale_factor = 0.02);
