-- One row of `calls` is one call with its verdict, healthy ones too, in the words of the JSON of `mcpdiag join`. One row of
-- `findings` is something odd. The one row of `mcpdiag_meta` says what wrote the file, and from what.
CREATE TABLE kept.calls (
  requester        ENUM('client', 'server'),
  session          VARCHAR,
  connection       UINTEGER,
  id               VARCHAR,
  nth              UINTEGER,
  method           VARCHAR,
  name             VARCHAR,
  leaf             ENUM('never_arrived', 'never_written', 'written_not_read', 'agent_level'),
  no_leaf_reason   ENUM('log_incomplete', 'cannot_tell'),
  outcome          ENUM('open', 'answered', 'late', 'cancelled', 'refused'),
  stalled          BOOLEAN,
  slow             BOOLEAN,
  quiet            BOOLEAN,
  q1               BOOLEAN,
  q2               BOOLEAN,
  q3               BOOLEAN,
  cause            VARCHAR,
  cause_status     VARCHAR,
  next             VARCHAR,
  request_bytes    BIGINT,
  response_bytes   BIGINT,
  rows             BIGINT,
  dispatch_ms      DOUBLE,
  handler_ms       DOUBLE,
  flush_ms         DOUBLE,
  total_ms         DOUBLE,
  residual_ms      DOUBLE,
  wait_ms          DOUBLE,
  cancel_ms        DOUBLE,
  request_sent     VARCHAR,
  request_read     VARCHAR,
  handler_enter    VARCHAR,
  handler_exit     VARCHAR,
  response_written VARCHAR,
  response_read    VARCHAR,
  cancel           VARCHAR,
  requester_half   UINTEGER,
  responder_half   UINTEGER
);
COMMENT ON TABLE  kept.calls IS 'one row is one call with its verdict, healthy ones too';
COMMENT ON COLUMN kept.calls.requester IS 'the side that asked';
COMMENT ON COLUMN kept.calls.session IS 'the name that the logs give; null when neither does';
COMMENT ON COLUMN kept.calls.connection IS 'which stretch of the requester''s log, else of the responder''s, from 1';
COMMENT ON COLUMN kept.calls.id IS 'JSON-RPC id as its raw JSON token: 1, "1" and 1.0 are three ids';
COMMENT ON COLUMN kept.calls.nth IS 'which request with this id by this requester: in the named session, else in the log';
COMMENT ON COLUMN kept.calls.name IS 'tool, prompt or resource';
COMMENT ON COLUMN kept.calls.leaf IS 'where the call stopped; null when the logs do not decide';
COMMENT ON COLUMN kept.calls.no_leaf_reason IS 'why there is no leaf';
COMMENT ON COLUMN kept.calls.outcome IS 'how the requester''s wait ended';
COMMENT ON COLUMN kept.calls.stalled IS 'never answered, or only after the requester had given up';
COMMENT ON COLUMN kept.calls.slow IS 'answered, after a long wait';
COMMENT ON COLUMN kept.calls.quiet IS 'answered, and then the requester fell silent';
COMMENT ON COLUMN kept.calls.q1 IS 'the request reached the responder; null: not known';
COMMENT ON COLUMN kept.calls.q2 IS 'a response left the responder; null: not known';
COMMENT ON COLUMN kept.calls.q3 IS 'the requester logged it arriving; null: not known';
COMMENT ON COLUMN kept.calls.cause IS 'the first cause named';
COMMENT ON COLUMN kept.calls.cause_status IS 'found or candidate';
COMMENT ON COLUMN kept.calls.next IS 'the step to take';
COMMENT ON COLUMN kept.calls.request_bytes IS 'as sent, else as read';
COMMENT ON COLUMN kept.calls.response_bytes IS 'as written, else as read';
COMMENT ON COLUMN kept.calls.rows IS 'records in the result';
COMMENT ON COLUMN kept.calls.dispatch_ms IS 'request read to handler enter, on the responder''s clock';
COMMENT ON COLUMN kept.calls.handler_ms IS 'handler enter to exit, on the responder''s clock';
COMMENT ON COLUMN kept.calls.flush_ms IS 'handler exit to response written, on the responder''s clock';
COMMENT ON COLUMN kept.calls.total_ms IS 'request read to response written, on the responder''s clock';
COMMENT ON COLUMN kept.calls.residual_ms IS 'total less the three stages: 0 when all are known';
COMMENT ON COLUMN kept.calls.wait_ms IS 'request sent to response read, on the requester''s clock';
COMMENT ON COLUMN kept.calls.cancel_ms IS 'request sent to cancel, on the requester''s clock';
COMMENT ON COLUMN kept.calls.request_sent IS 'file:line in the requester''s log';
COMMENT ON COLUMN kept.calls.request_read IS 'file:line in the responder''s log';
COMMENT ON COLUMN kept.calls.handler_enter IS 'file:line in the responder''s log';
COMMENT ON COLUMN kept.calls.handler_exit IS 'file:line in the responder''s log';
COMMENT ON COLUMN kept.calls.response_written IS 'file:line in the responder''s log';
COMMENT ON COLUMN kept.calls.response_read IS 'file:line in the requester''s log';
COMMENT ON COLUMN kept.calls.cancel IS 'file:line in the requester''s log';
COMMENT ON COLUMN kept.calls.requester_half IS 'its half in the requester''s log: halves.half where halves.side = requester';
COMMENT ON COLUMN kept.calls.responder_half IS 'its half in the responder''s log: halves.half where halves.side <> requester';
CREATE TABLE kept.findings (
  kind     VARCHAR,
  severity VARCHAR,
  log      ENUM('client', 'server'),
  line     UINTEGER,
  cite     VARCHAR,
  text     VARCHAR,
  calls    STRUCT(requester VARCHAR, session VARCHAR, connection BIGINT, id VARCHAR, nth BIGINT)[]
);
COMMENT ON TABLE  kept.findings IS 'one row is something odd that has not itself stalled a call';
COMMENT ON COLUMN kept.findings.line IS 'counted over all files of the log';
COMMENT ON COLUMN kept.findings.cite IS 'the same as file:line';
COMMENT ON COLUMN kept.findings.calls IS 'the calls that it is about, by the key of calls';
CREATE TABLE kept.mcpdiag_meta (
  schema_version  INTEGER,
  program_version VARCHAR,
  created         TIMESTAMP,
  logs            STRUCT(side VARCHAR, path VARCHAR, dialect VARCHAR, records BIGINT, unreadable BIGINT)[]
);
COMMENT ON TABLE  kept.mcpdiag_meta IS 'one row: what wrote this file, and from what; mcpdiag replaces no file without it';
COMMENT ON COLUMN kept.mcpdiag_meta.created IS 'UTC, by the clock of the host that wrote it';
-- One row of `kept_logs` is a log: its files, and how many of its lines stand before each.
CREATE OR REPLACE TEMP TABLE kept_logs (side UTINYINT, paths VARCHAR[], before UINTEGER[]);
-- One row of `kept_listed` is a call that was looked at closely: what is known of it beyond `verdicts`, or corrects that.
CREATE OR REPLACE TEMP TABLE kept_listed (
  requester UTINYINT, r_half BIGINT, p_half BIGINT,
  stalled BOOLEAN, slow BOOLEAN, quiet BOOLEAN, leaf VARCHAR, reason VARCHAR, cause VARCHAR, cause_status VARCHAR, next VARCHAR
);
