-- Rows of the queue live for seconds. By default a table is vacuumed when a fifth of it is dead, and a
-- queue that is empty between bursts would be vacuumed by its size of then.

alter table pgmq.q_agent_tasks set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000
);
alter table private.wake_gate set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500
);
alter table private.job_totals set (autovacuum_vacuum_scale_factor = 0.02);
