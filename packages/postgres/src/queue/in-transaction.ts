import { BackpressureError, isRecord } from '@webhook-backpressure/base';
import type { Put, PutResult, Settlement, StoreLimits } from '@webhook-backpressure/inbox';
import {
  areOtherBodies,
  bodySum,
  storedBytes,
  encodeFacts,
  encodeText,
} from '@webhook-backpressure/inbox/store';
import { idHash } from '../records/records.ts';
import { isOfSetup } from '../server/errors.ts';
import type { Server } from '../server/server.ts';

/** Every value is text, and is cast by the server: drivers bind other types differently. */
type Values = readonly (string | null)[];
type RunText = (text: string, values: (string | null)[]) => PromiseLike<unknown>;

/**
 * Whether the statement runs in a transaction block. A transaction that has written something has a number; one that has
 * not gets a local setting, which ends with it, in a statement before.
 */
const IS_OPEN = `pg_current_xact_id_if_assigned() IS NOT NULL
  OR current_setting('webhook_backpressure.transaction', true) = 'open'`;
const MARK = "SELECT set_config('webhook_backpressure.transaction', 'open', true) AS answer";

/** Ends a claim by a client of the application, within its transaction. Returns whether it was still held. */
export async function settleIn(
  client: unknown,
  server: Server,
  owner: string,
  seq: number | undefined,
  settlement: Settlement,
  nowMs: number,
): Promise<boolean> {
  const { schema, skew } = server;
  const one = settlement;
  const retryMs = 'retryAtMs' in one && one.retryAtMs !== undefined ? skew.toServer(one.retryAtMs) : null;
  const isFlagged = one.as === 'completed' ? one.keep : one.as === 'failed' && one.isRepeated === true;
  const answer = await answerOf(
    client,
    schema,
    `(${schema}.settle_v1($1::text::bigint, NULL, NULL, $2::text::double precision, ARRAY[$3::text::bigint], ARRAY[$4::text::integer],
      ARRAY[$5::text], ARRAY[$6::text::double precision], ARRAY[$7::text], ARRAY[$8::text::boolean]))[1]::text`,
    [
      owner,
      String(skew.toServer(nowMs)),
      seq === undefined ? null : String(seq),
      String(one.attempt),
      one.as,
      retryMs === null ? null : String(retryMs),
      'error' in one ? encodeText(one.error) : '',
      String(isFlagged),
    ],
  );
  return answer === 'true';
}

/** Stores a delivery by a client of the application, within its transaction. */
export async function putIn(
  client: unknown,
  { schema, skew }: Server,
  { delivery, isOverflow }: Put,
  limits: StoreLimits,
  nowMs: number,
): Promise<PutResult> {
  const sum = delivery.isIdGenerated ? null : bodySum(delivery);
  const { rawBody, sender } = delivery;
  const answer = await answerOf(
    client,
    schema,
    `(SELECT json_build_array(p.results[1], p.known_sums[1])::text FROM ${schema}.put_v1(
      ARRAY[$1::text::uuid], ARRAY[$2::text], ARRAY[$3::text], ARRAY[$4::text::boolean], ARRAY[$5::text],
      ARRAY[$6::text], ARRAY[$7::text::double precision], ARRAY[$8::text::double precision],
      ARRAY[$9::text::double precision], ARRAY[1], ARRAY[$10::text::integer], decode($11::text, 'base64'),
      ARRAY[$12::text::boolean], $13::text::double precision, $14::text::double precision,
      $15::text::double precision, $16::text::double precision, $17::text::double precision) AS p)`,
    [
      idHash(delivery),
      encodeText(delivery.key),
      encodeText(delivery.id),
      String(delivery.isIdGenerated),
      sender === undefined ? null : encodeText(sender),
      encodeFacts(delivery),
      String(delivery.receivedAtMs),
      String(storedBytes(delivery)),
      sum === null ? null : String(sum),
      String(rawBody.byteLength),
      Buffer.from(rawBody).toString('base64'),
      String(isOverflow),
      String(skew.toServer(nowMs)),
      String(limits.capacity),
      String(limits.maxBytes),
      String(limits.maxDeadLetters),
      String(limits.maxDeadLetterBytes),
    ],
  );
  const [result, known] = JSON.parse(answer) as [string, number | null];
  if (result === 'full') return 'full';
  if (result !== 'duplicate') return 'stored';
  return known !== null && sum !== null && areOtherBodies(known, sum) ? 'conflict' : 'duplicate';
}

/** The value of an expression, which is evaluated only within a transaction. */
async function answerOf(
  client: unknown,
  schema: string,
  expression: string,
  values: Values,
): Promise<string> {
  const run = runnerOf(client);
  const text = `SELECT CASE WHEN ${IS_OPEN} THEN ${expression} END AS answer`;
  try {
    const answer = await firstOf(run, text, values);
    if (answer !== null) return answer;
    await firstOf(run, MARK, []);
    const second = await firstOf(run, text, values);
    if (second !== null) return second;
  } catch (error) {
    // A library may have wrapped the error of its driver.
    if (!isOfSetup(error) && !isOfSetup((error as Error).cause)) throw error;
    throw new BackpressureError(
      'ERR_WBP_TRANSACTION',
      `The client cannot use the schema ${schema}: it is connected to another database, or its role lacks the rights.`,
      { cause: error },
    );
  }
  throw new BackpressureError(
    'ERR_WBP_TRANSACTION',
    'The client has no open transaction. Pass the client that has run BEGIN, not its pool.',
  );
}

function runnerOf(client: unknown): RunText {
  if (typeof client === 'function') return client as RunText;
  if (isRecord(client) && typeof client['query'] === 'function')
    return (client as { query: RunText }).query.bind(client);
  throw new BackpressureError(
    'ERR_WBP_TRANSACTION',
    'client must be a client of pg, or a function (text, values) that runs a statement and resolves to its rows.',
  );
}

async function firstOf(run: RunText, text: string, values: Values): Promise<string | null> {
  const result = await run(text, [...values]);
  const rows: unknown = Array.isArray(result) ? result : (result as { rows?: unknown } | undefined)?.rows;
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined;
  if (isRecord(row)) {
    const { answer } = row;
    if (answer === null || typeof answer === 'string') return answer;
  }
  throw new BackpressureError(
    'ERR_WBP_TRANSACTION',
    'The client must resolve to the rows of the statement, or to an object with them as rows.',
  );
}
