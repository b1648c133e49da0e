/** Slots of the totals: one row would make every put wait for the commit of the one before. */
export const SLOTS = 16;

/**
 * The tables of version 1.
 *
 * Ids outlive the delivery, so that one unique index decides on duplicates: over two tables, a delivery could be stored
 * again while another machine completes it. Bodies are inserted and deleted, never updated; only the narrow queue is.
 */
export const tables = (s: string): string => `
CREATE SEQUENCE ${s}.delivery_seq;
CREATE SEQUENCE ${s}.owner_seq;

-- One row. min_version: releases that know at least this version can use the schema.
CREATE TABLE ${s}.meta (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  application text NOT NULL,
  version integer NOT NULL,
  min_version integer NOT NULL DEFAULT 1,
  is_ordered boolean NOT NULL DEFAULT false,
  first_slot integer NOT NULL DEFAULT 0,
  room_depth double precision,
  room_bytes double precision
);

-- Every known id: the first 16 bytes of the SHA-256 of key and id, and which delivery has it. completed_ms: remembered.
CREATE TABLE ${s}.ids (
  hash uuid PRIMARY KEY,
  seq bigint NOT NULL,
  sum double precision,
  is_generated boolean NOT NULL,
  completed_ms double precision
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX ids_completed ON ${s}.ids (completed_ms) WHERE completed_ms IS NOT NULL;

CREATE TABLE ${s}.contents (
  seq bigint PRIMARY KEY,
  hash uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  is_generated boolean NOT NULL,
  sender text COLLATE "C",
  facts text COLLATE "C" NOT NULL,
  received_ms double precision NOT NULL,
  bytes bigint NOT NULL,
  body bytea NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- state 0 ready: due
--       1 waiting: for a retry
--       2 held: claimed by an owner, until it settles it
--       3 suspect: due, after a claim that was not settled
--       4 behind: an earlier one of its key comes first, while the order is strict
CREATE TABLE ${s}.queue (
  seq bigint PRIMARY KEY,
  key text COLLATE "C" NOT NULL,
  state smallint NOT NULL,
  due_ms double precision NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  strandings integer NOT NULL DEFAULT 0,
  owner bigint,
  lease_ms double precision,
  received_ms double precision NOT NULL,
  bytes bigint NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.2);
CREATE INDEX queue_ready ON ${s}.queue (key, due_ms, seq) WHERE state = 0;
CREATE INDEX queue_waiting ON ${s}.queue (due_ms, seq) WHERE state = 1;
CREATE INDEX queue_held ON ${s}.queue (owner, lease_ms) WHERE state = 2;
CREATE INDEX queue_suspect ON ${s}.queue (due_ms, seq) WHERE state = 3;
CREATE INDEX queue_behind ON ${s}.queue (key, seq) WHERE state = 4;

CREATE TABLE ${s}.dead_letters (
  seq bigint PRIMARY KEY,
  key text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  error text COLLATE "C" NOT NULL,
  attempts integer NOT NULL,
  bytes bigint NOT NULL,
  shelved_ms double precision NOT NULL
);
CREATE INDEX dead_letters_order ON ${s}.dead_letters (shelved_ms, seq);
CREATE INDEX dead_letters_key ON ${s}.dead_letters (key, shelved_ms, seq);
CREATE INDEX dead_letters_id ON ${s}.dead_letters (id, shelved_ms, seq);

CREATE TABLE ${s}.kept (
  at bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  seq bigint NOT NULL UNIQUE,
  key text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  attempts integer NOT NULL,
  bytes bigint NOT NULL,
  completed_ms double precision NOT NULL
);
CREATE INDEX kept_key ON ${s}.kept (key, at);
CREATE INDEX kept_id ON ${s}.kept (id, at);

-- The first delivery of each key, while the order is strict.
CREATE TABLE ${s}.heads (key text COLLATE "C" PRIMARY KEY, seq bigint NOT NULL);

CREATE TABLE ${s}.paused (
  scope text NOT NULL CHECK (scope IN ('all', 'key')),
  key text COLLATE "C" NOT NULL,
  PRIMARY KEY (scope, key)
);

-- Their sum counts. A single slot may be negative. Only slots from meta.first_slot on are used. drained: deliveries that
-- were completed or became dead letters, ever.
CREATE TABLE ${s}.totals (
  slot integer PRIMARY KEY,
  depth bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  shelved bigint NOT NULL DEFAULT 0,
  shelved_bytes bigint NOT NULL DEFAULT 0,
  remembered bigint NOT NULL DEFAULT 0,
  kept bigint NOT NULL DEFAULT 0,
  kept_bytes bigint NOT NULL DEFAULT 0,
  drained bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0);
INSERT INTO ${s}.totals (slot) SELECT generate_series(0, ${String(SLOTS - 1)});

INSERT INTO ${s}.meta (application, version) VALUES ('webhook-backpressure inbox', 1);
`;
