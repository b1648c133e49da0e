import { PLPGSQL, PLPGSQL_WITH_ONE_PLAN } from './plpgsql.ts';

/** Slots of the totals: one row would make every put wait for the commit of the one before. */
const SLOTS = 16;

/**
 * The tables, and functions on the totals.
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
-- By key, since every claim of named keys looks here. Those that look for one owner are rare, and pass all claimed rows.
CREATE INDEX queue_held ON ${s}.queue (key, lease_ms, owner) WHERE state = 2;
CREATE INDEX queue_suspect ON ${s}.queue (due_ms, seq) WHERE state = 3;
CREATE INDEX queue_behind ON ${s}.queue (key, seq) WHERE state = 4;

-- By key, so that claims of named keys pass no row of another key. Their expressions change no value. They leave PostgreSQL
-- one index for each look, whatever its statistics say, and keep these indexes out of the plans of other functions: for a
-- key that is seldom in the queue, a plan for the frequent one would read all other rows.
CREATE INDEX queue_key ON ${s}.queue ((key || ''), (seq + 0));
CREATE INDEX queue_key_waiting ON ${s}.queue (key, due_ms, seq) WHERE state - 0 = 1;
CREATE INDEX queue_key_suspect ON ${s}.queue (key, due_ms, seq) WHERE state - 0 = 3;

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

-- The calls of settle_v1 whose answer may have been lost. held: which claims were held; null: all.
CREATE TABLE ${s}.settle_calls (
  owner bigint NOT NULL,
  call bigint NOT NULL,
  held boolean[],
  made_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (owner, call)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

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

-- Adds to a slot that no other transaction has locked. Call it last: other rows are locked before slots.
CREATE FUNCTION ${s}.add_totals_v1(
  p_depth bigint, p_bytes bigint, p_shelved bigint, p_shelved_bytes bigint, p_remembered bigint,
  p_kept bigint, p_kept_bytes bigint, p_drained bigint DEFAULT 0) RETURNS void
${PLPGSQL_WITH_ONE_PLAN}
DECLARE
  my_first integer;
  my_slot integer;
BEGIN
  LOOP
    SELECT first_slot INTO my_first FROM ${s}.meta;
    SELECT slot INTO my_slot FROM ${s}.totals WHERE slot >= my_first LIMIT 1 FOR UPDATE SKIP LOCKED;
    UPDATE ${s}.totals SET depth = depth + p_depth, bytes = bytes + p_bytes, shelved = shelved + p_shelved,
      shelved_bytes = shelved_bytes + p_shelved_bytes, remembered = remembered + p_remembered,
      kept = kept + p_kept, kept_bytes = kept_bytes + p_kept_bytes, drained = drained + p_drained
    WHERE slot = coalesce(my_slot, my_first + pg_backend_pid() % ${String(SLOTS)});
    -- Not found: meanwhile the slots were replaced.
    EXIT WHEN FOUND;
  END LOOP;
END $$;

-- Locks all slots, so that every put that has counted is seen and no other counts until the commit.
CREATE FUNCTION ${s}.lock_totals_v1() RETURNS void
${PLPGSQL}
DECLARE
  locked integer;
BEGIN
  LOOP
    PERFORM 1 FROM ${s}.totals WHERE slot >= (SELECT first_slot FROM ${s}.meta) ORDER BY slot FOR UPDATE;
    GET DIAGNOSTICS locked = ROW_COUNT;
    -- Fewer: meanwhile the slots were replaced.
    EXIT WHEN locked = ${String(SLOTS)};
  END LOOP;
END $$;

-- Replaces the slots by new rows. While a transaction is open, PostgreSQL keeps every earlier version of a row that the
-- transaction might read, and an update has to pass all of them: after 300,000 puts it would take 100 ms.
CREATE FUNCTION ${s}.replace_totals_v1(p_first integer) RETURNS void
${PLPGSQL}
BEGIN
  -- One of several that do it at the same time is enough.
  PERFORM 1 FROM ${s}.meta WHERE first_slot = p_first FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM ${s}.lock_totals_v1();
  INSERT INTO ${s}.totals
    (slot, depth, bytes, shelved, shelved_bytes, remembered, kept, kept_bytes, drained)
  SELECT slot + ${String(SLOTS)}, depth, bytes, shelved, shelved_bytes, remembered, kept, kept_bytes, drained
  FROM ${s}.totals WHERE slot >= p_first;
  DELETE FROM ${s}.totals WHERE slot < p_first + ${String(SLOTS)};
  UPDATE ${s}.meta SET first_slot = p_first + ${String(SLOTS)};
END $$;

-- The slots that are used, found by the index: a plan for a small table would read all earlier versions.
CREATE FUNCTION ${s}.slots_v1() RETURNS SETOF ${s}.totals
${PLPGSQL}
BEGIN
  RETURN QUERY SELECT * FROM ${s}.totals WHERE slot >= (SELECT first_slot FROM ${s}.meta);
END $$;
`;
