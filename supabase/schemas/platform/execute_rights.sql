-- PostgreSQL lets everybody execute a new function. Who may call a private one has a grant beside
-- it; those of other schemas, which may have functions of the project, are revoked beside them.
revoke all on all routines in schema private from public;
