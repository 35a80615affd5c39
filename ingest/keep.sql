-- One row of `frames` is one record of a log, as it stands there and before copies are folded. One row of `halves` is what
-- one log knows of one call. Both stand in the attached database `kept`, and are public: see the comments on their columns.
CREATE TABLE kept.frames (
  log         ENUM('client', 'server'),
  file        VARCHAR,
  line        UINTEGER,
  log_line    UINTEGER,
  ts          TIMESTAMP_NS,
  zoneless    BOOLEAN,
  mono_ns     BIGINT,
  clock       VARCHAR,
  seq         BIGINT,
  side        ENUM('client', 'server', 'proxy'),
  dir         ENUM('c2s', 's2c'),
  kind        ENUM('request', 'response', 'error', 'notification', 'invalid', 'handler_enter', 'handler_exit', 'open', 'eof', 'gap'),
  id          VARCHAR,
  method      VARCHAR,
  name        VARCHAR,
  bytes       BIGINT,
  rows        BIGINT,
  session     VARCHAR,
  conn        VARCHAR,
  exchange    VARCHAR,
  pid         VARCHAR,
  request_id  VARCHAR,
  token       VARCHAR,
  code        BIGINT,
  tool_error  BOOLEAN,
  result_type VARCHAR,
  status      BIGINT,
  caps        VARCHAR[],
  era         VARCHAR,
  phase       ENUM('read', 'parsed', 'queued', 'written'),
  raw         VARCHAR,
  trunc       BOOLEAN,
  dropped     BIGINT
);
COMMENT ON TABLE  kept.frames IS 'one row is one record of a log, as it stands there';
COMMENT ON COLUMN kept.frames.log IS 'whose log the record stands in';
COMMENT ON COLUMN kept.frames.line IS 'counted from 1 in its file';
COMMENT ON COLUMN kept.frames.log_line IS 'counted from 1 over all files of the log; the lines of halves are these';
COMMENT ON COLUMN kept.frames.ts IS 'wall clock of the writing host, in UTC unless zoneless; never compare it across logs';
COMMENT ON COLUMN kept.frames.zoneless IS 'ts came without a zone: good within its own log only';
COMMENT ON COLUMN kept.frames.mono_ns IS 'monotonic clock of the writing process, ns; two readings subtract only on one clock';
COMMENT ON COLUMN kept.frames.side IS 'the side that the record itself names';
COMMENT ON COLUMN kept.frames.dir IS 'direction of travel: c2s is client to server';
COMMENT ON COLUMN kept.frames.id IS 'JSON-RPC id as its raw JSON token: 1, "1" and 1.0 are three ids';
COMMENT ON COLUMN kept.frames.bytes IS 'whole frame as it crossed the vantage, line end included';
COMMENT ON COLUMN kept.frames.rows IS 'records in the result';
COMMENT ON COLUMN kept.frames.request_id IS 'the id that a cancel or a progress refers to, as id';
COMMENT ON COLUMN kept.frames.token IS 'progress token, as id';
COMMENT ON COLUMN kept.frames.tool_error IS 'true when the result says isError; null otherwise';
COMMENT ON COLUMN kept.frames.phase IS 'which moment of the frame''s life this is; null: read inbound, written outbound';
COMMENT ON COLUMN kept.frames.trunc IS 'the line was cut: an id that is null here may be lost';
COMMENT ON COLUMN kept.frames.dropped IS 'records that the writer could not keep up with';
CREATE TABLE kept.halves (
  side          ENUM('client', 'server'),
  half          UINTEGER,
  session       VARCHAR,
  connection    UINTEGER,
  requester     ENUM('client', 'server'),
  id            VARCHAR,
  nth           UINTEGER,
  method        VARCHAR,
  name          VARCHAR,
  outcome       ENUM('open', 'answered', 'late', 'cancelled', 'refused'),
  request_bytes BIGINT,
  answer_bytes  BIGINT,
  rows          BIGINT,
  code          BIGINT,
  status        BIGINT,
  request_line  UINTEGER,
  enter_line    UINTEGER,
  exit_line     UINTEGER,
  answer_line   UINTEGER,
  cancel_line   UINTEGER,
  clock         ENUM('mono', 'wall'),
  clock_no      UINTEGER,
  request_at    BIGINT,
  enter_at      BIGINT,
  exit_at       BIGINT,
  answer_at     BIGINT,
  cancel_at     BIGINT,
  dispatch_ns   BIGINT,
  handler_ns    BIGINT,
  flush_ns      BIGINT,
  took_ns       BIGINT,
  cancel_ns     BIGINT,
  ambiguous     BOOLEAN,
  is_error      BOOLEAN,
  tool_error    BOOLEAN,
  refused       BOOLEAN,
  input_asked   BOOLEAN,
  queued_only   BOOLEAN,
  lost_answer   BOOLEAN,
  late          BOOLEAN,
  closed        BOOLEAN,
  modern        BOOLEAN
);
COMMENT ON TABLE  kept.halves IS 'one row is what one log knows of one call';
COMMENT ON COLUMN kept.halves.side IS 'whose log';
COMMENT ON COLUMN kept.halves.half IS 'number of the half in its log; calls names halves by it';
COMMENT ON COLUMN kept.halves.session IS 'the name that the log gives; null when none';
COMMENT ON COLUMN kept.halves.connection IS 'which stretch of the log, from 1, where no session is named';
COMMENT ON COLUMN kept.halves.requester IS 'the side that asked';
COMMENT ON COLUMN kept.halves.id IS 'JSON-RPC id as its raw JSON token';
COMMENT ON COLUMN kept.halves.nth IS 'which request with this id by this requester: in the named session, else in the log';
COMMENT ON COLUMN kept.halves.outcome IS 'how the wait ended, as far as this log shows';
COMMENT ON COLUMN kept.halves.code IS 'JSON-RPC error code of the answer';
COMMENT ON COLUMN kept.halves.status IS 'HTTP status that carried the answer';
COMMENT ON COLUMN kept.halves.request_line IS 'where the request was sent or read; a log_line of frames, as the other lines are';
COMMENT ON COLUMN kept.halves.answer_line IS 'where the answer was written or read';
COMMENT ON COLUMN kept.halves.clock IS 'the clock of the five times: mono since its own zero, wall since 1970; both this log''s own';
COMMENT ON COLUMN kept.halves.clock_no IS 'which of the log''s monotonic clocks; times on different ones do not subtract';
COMMENT ON COLUMN kept.halves.request_at IS 'ns on that clock, as the other times are; null when not known on it';
COMMENT ON COLUMN kept.halves.dispatch_ns IS 'request to handler enter; null, as every duration, when an end is unknown or the clock stepped';
COMMENT ON COLUMN kept.halves.handler_ns IS 'handler enter to handler exit';
COMMENT ON COLUMN kept.halves.flush_ns IS 'handler exit to answer';
COMMENT ON COLUMN kept.halves.took_ns IS 'request to answer';
COMMENT ON COLUMN kept.halves.cancel_ns IS 'request to cancel';
COMMENT ON COLUMN kept.halves.ambiguous IS 'shared its id with another outstanding request: which answer is whose cannot be told';
COMMENT ON COLUMN kept.halves.is_error IS 'the answer is a JSON-RPC error';
COMMENT ON COLUMN kept.halves.tool_error IS 'the answer is a result with isError';
COMMENT ON COLUMN kept.halves.refused IS 'the transport answered without an id';
COMMENT ON COLUMN kept.halves.input_asked IS 'answered with input_required or a task: an answer, not the end of the work';
COMMENT ON COLUMN kept.halves.queued_only IS 'the answer was queued; nothing says that it was written';
COMMENT ON COLUMN kept.halves.lost_answer IS 'an answer without its id passed while this call was outstanding';
COMMENT ON COLUMN kept.halves.late IS 'the cancel came before the answer';
COMMENT ON COLUMN kept.halves.closed IS 'a cut of the connection ended it';
COMMENT ON COLUMN kept.halves.modern IS 'the request carried a 2026-07-28 version';
