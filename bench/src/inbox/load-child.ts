import autocannon from 'autocannon';
import { answer } from '../pinned.ts';
import { BODY, headersOf } from './sample.ts';

/** As many as there are senders in process. */
const CONNECTIONS = 64;
/** How often autocannon checks whether time is up. */
const LOOK_MS = 50;
/** Where autocannon puts an id that comes once only. */
const ID = '[<id>]';

/** What one turn of load came to. */
export interface Acknowledged {
  readonly accepted: number;
  readonly other: number;
  readonly perSecond: number;
  /** At the end so many may have been stored whose answer was not waited for. */
  readonly inFlight: number;
}

answer(async ({ port, seconds }: { port: number; seconds: number }): Promise<Acknowledged> => {
  const result = await autocannon({
    url: `http://127.0.0.1:${String(port)}/webhooks`,
    connections: CONNECTIONS,
    duration: seconds,
    sampleInt: LOOK_MS,
    idReplacement: true,
    method: 'POST',
    headers: headersOf(ID),
    body: BODY,
  });
  const { non2xx, errors, timeouts, start, finish } = result;
  const accepted = result['2xx'];
  return {
    accepted,
    other: non2xx + errors + timeouts,
    perSecond: accepted / ((finish.getTime() - start.getTime()) / 1000),
    inFlight: CONNECTIONS,
  };
});
