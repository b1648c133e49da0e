import { PLPGSQL } from './plpgsql.ts';

/** After this time a row is deleted, also one from the future: the clock of the server has been set back. */
const GONE = "interval '10 s'";

/**
 * The members of fleets. They write every two seconds, so what they write costs no WAL, and is gone after a crash of the
 * server.
 */
export const fleet = (s: string): string => `
CREATE UNLOGGED TABLE ${s}.fleet_members (
  resource text COLLATE "C" NOT NULL,
  member text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  written_at timestamptz NOT NULL,
  state text COLLATE "C" NOT NULL,
  PRIMARY KEY (resource, member)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

CREATE UNLOGGED TABLE ${s}.fleet_news (
  resource text COLLATE "C" NOT NULL,
  member text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  written_at timestamptz NOT NULL,
  news text COLLATE "C" NOT NULL,
  PRIMARY KEY (resource, member, number)
) WITH (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

-- Writes what a member reports, then reads what it has not seen. One beat of a resource at a time: of two members that
-- beat concurrently, the later one has to see the other.
CREATE FUNCTION ${s}.fleet_beat_v1(
  in_resource text, in_member text, in_number bigint, in_state text, in_news text, in_seen text)
RETURNS TABLE (member text, number bigint, age_ms double precision, content text)
${PLPGSQL}
DECLARE
  now_at timestamptz;
  seen jsonb := in_seen::jsonb;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM pg_advisory_xact_lock(hashtext('webhook-backpressure fleet:${s}'), hashtext(in_resource));
  now_at := clock_timestamp();
  INSERT INTO ${s}.fleet_members AS m (resource, member, number, written_at, state)
  VALUES (in_resource, in_member, in_number, now_at, in_state)
  ON CONFLICT ON CONSTRAINT fleet_members_pkey DO UPDATE
    SET number = excluded.number, written_at = excluded.written_at, state = excluded.state
    WHERE m.number < excluded.number;
  IF FOUND AND in_news <> '' THEN
    INSERT INTO ${s}.fleet_news (resource, member, number, written_at, news)
    VALUES (in_resource, in_member, in_number, now_at, in_news) ON CONFLICT DO NOTHING;
  END IF;
  DELETE FROM ${s}.fleet_news n
    WHERE n.resource = in_resource AND n.written_at NOT BETWEEN now_at - ${GONE} AND now_at + ${GONE};
  DELETE FROM ${s}.fleet_members m
    WHERE m.resource = in_resource AND m.written_at NOT BETWEEN now_at - ${GONE} AND now_at + ${GONE};
  RETURN QUERY SELECT m.member, 0::bigint,
      greatest(0, extract(epoch FROM now_at - m.written_at) * 1000)::double precision, m.state
    FROM ${s}.fleet_members m WHERE m.resource = in_resource;
  RETURN QUERY SELECT n.member, n.number, 0::double precision, n.news
    FROM ${s}.fleet_news n
    WHERE n.resource = in_resource AND n.member <> in_member
      AND n.number > coalesce((seen->>n.member)::bigint, 0)
    ORDER BY n.number;
END $$;
`;
