import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { isPublicAddress } from './addresses.ts';
import {
  AnswerBody,
  answerOf,
  failureOf,
  ForbiddenAddress,
  timeoutFailure,
  type Answer,
  type Requester,
  type RequestFailure,
} from './request.ts';

/** Options of {@link undiciRequester}. */
export interface UndiciRequesterOptions {
  readonly allowPrivateAddresses: boolean;
  /** Resolves names. Default: as the system does. */
  readonly resolve?: Resolve | undefined;
  /** Replaces the rule about addresses. */
  readonly isAllowed?: ((address: string) => boolean) | undefined;
  /** How long an idle connection is kept, unless its server names a shorter time. Default 4,000. */
  readonly keepAliveMs?: number | undefined;
}

// An attempt ends at its signal. A connection that opens later is of use for the next attempt.
const CONNECT_TIMEOUT_MS = 10_000;
// Idle connections take a socket each, and 100,000 endpoints must not keep them all.
const KEEP_ALIVE_MS = 4000;
const MAX_KEEP_ALIVE_MS = 10_000;
const MAX_HEADER_BYTES = 16_384;

/** Makes requests with undici: connections are kept for a few seconds, redirects are not followed. */
export function undiciRequester(options: UndiciRequesterOptions): Requester {
  const { allowPrivateAddresses, resolve = resolveBySystem, keepAliveMs = KEEP_ALIVE_MS } = options;
  const { isAllowed = allowPrivateAddresses ? () => true : isPublicAddress } = options;
  const agent = new Agent({
    connect: guardedConnector(resolve, isAllowed, CONNECT_TIMEOUT_MS),
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The signal ends an attempt, so undici needs no timers for it.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    send: ({ method, url, headers, body, signal }) =>
      new Promise<Answer>((resolved, reject) => {
        const received = new AnswerBody();
        let controller: Dispatcher.DispatchController | undefined;
        let status = 0;
        let fields: Readonly<Record<string, string | string[] | undefined>> = {};
        // Of several calls of these, only the first one counts.
        const finish = (): void => {
          signal.removeEventListener('abort', abort);
          resolved(answerOf(status, fields, received));
        };
        /** Once the status is known, it decides about the event, whether the body arrives or not. */
        const fail = (failure: RequestFailure): void => {
          if (status > 0) {
            finish();
            return;
          }
          signal.removeEventListener('abort', abort);
          reject(failure);
        };
        const abort = (): void => {
          fail(timeoutFailure());
          controller?.abort(timeoutFailure());
        };
        if (signal.aborted) {
          abort();
          return;
        }
        signal.addEventListener('abort', abort);
        const path = url.pathname + url.search;
        agent.dispatch(
          { origin: url.origin, path, method, headers, body: method === 'POST' ? body : null },
          {
            // Not called before the connection is open.
            onRequestStart: (started) => {
              controller = started;
              if (signal.aborted) started.abort(timeoutFailure());
            },
            onResponseStart: (_, code, given) => {
              // 1xx comes before the answer.
              if (code < 200) return;
              status = code;
              fields = given;
            },
            onResponseData: (from, chunk) => {
              if (received.add(chunk)) return;
              finish();
              // To read the rest would cost more than a new connection.
              from.abort(new Error('The answer is too long.'));
            },
            onResponseEnd: finish,
            onResponseError: (_, error) => {
              fail(failureOf(error));
            },
          },
        );
      }),
    close: () => agent.destroy(),
  };
}

type Resolved = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/** Resolves a name to all of its addresses, like `dns.lookup` with `all`. */
export type Resolve = (hostname: string, callback: Resolved) => void;

const resolveBySystem: Resolve = (hostname, callback) => {
  systemLookup(hostname, { all: true }, callback);
};

/**
 * Opens connections to allowed addresses only. The addresses that are checked are those that are connected to, so a name
 * cannot change between check and use.
 *
 * @param connectTimeoutMs - how long a connection may take to open.
 */
function guardedConnector(
  resolve: Resolve,
  isAllowed: (address: string) => boolean,
  connectTimeoutMs: number,
): buildConnector.connector {
  const lookup = guardedLookup(sharing(resolve), isAllowed);
  const connect = buildConnector({ timeout: connectTimeoutMs, lookup });
  return (options, callback) => {
    // No lookup is made for an address.
    if (isIP(options.hostname) && !isAllowed(options.hostname)) callback(new ForbiddenAddress(), null);
    else connect(options, callback);
  };
}

function guardedLookup(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname, (error, addresses) => {
      const allowed = error ? [] : addresses.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (!first) callback(error ?? new ForbiddenAddress(), '');
      else if (all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

/** A lookup takes one of four threads that the process has for such work, so connections to one name share it. */
function sharing(resolve: Resolve): Resolve {
  const waiting = new Map<string, Resolved[]>();
  return (hostname, callback) => {
    const others = waiting.get(hostname);
    if (others) {
      others.push(callback);
      return;
    }
    const callbacks = [callback];
    waiting.set(hostname, callbacks);
    resolve(hostname, (error, addresses) => {
      waiting.delete(hostname);
      for (const one of callbacks) one(error, addresses);
    });
  };
}
