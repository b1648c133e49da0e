import {
  BackpressureError,
  checkClock,
  checkNames,
  type Clock,
  systemClock,
} from '@webhook-backpressure/base';
import type { Inbox } from '@webhook-backpressure/inbox';
import type { Intake } from '@webhook-backpressure/core';
import type { ObservableOutbox } from '@webhook-backpressure/observe';
import type { Change } from '../state/page-state.ts';
import { errorReports } from './error-reports.ts';

/** The options of {@link dashboard}. */
export interface DashboardOptions {
  /** The intakes to show, by the name that the page shows. Default none. */
  intakes?: Readonly<Record<string, Intake>> | undefined;
  /** The inboxes to show, by the name that the page shows. Default none. */
  inboxes?: Readonly<Record<string, Inbox>> | undefined;
  /** The senders (of `createSender`) whose outboxes to show, by the name that the page shows. Default none. */
  outboxes?: Readonly<Record<string, ObservableOutbox>> | undefined;
  /**
   * Whether a request may use the page. Called for every request, and once a minute for every open page. Only `true`
   * admits it. A `Response` is sent instead, such as a redirect to a login or a 401 with `WWW-Authenticate`; any other
   * value is answered with 401, an error with 500. The body of the request must not be read.
   *
   * `false` instead of a function: anyone who can reach the page may use it, because a middleware in front of it or
   * the network decides.
   */
  authorize: ((request: Request) => boolean | Response | Promise<boolean | Response>) | false;
  /**
   * Whether the page may change options, pause endpoints of outboxes and set their rates, and redrive and purge dead letters.
   * Default false: such requests are answered with 403.
   */
  allowUpdate?: boolean | undefined;
  /**
   * Called after each change that was made through the page, with the request that made it: for an audit log. What it
   * throws goes to `onError`. Default none.
   */
  onChange?: ((change: Change, request: Request) => unknown) | undefined;
  /**
   * Called with each unexpected error, such as one that `authorize` throws. Default: the first error is a process
   * warning.
   */
  onError?: ((error: unknown) => unknown) | undefined;
  /** The source of time. Default the monotonic clock of the runtime. */
  clock?: Clock | undefined;
}

/** Validated options. */
export interface Settings {
  readonly intakes: ReadonlyMap<string, Intake>;
  readonly inboxes: ReadonlyMap<string, Inbox>;
  readonly outboxes: ReadonlyMap<string, ObservableOutbox>;
  readonly authorize: Exclude<DashboardOptions['authorize'], false> | undefined;
  readonly allowUpdate: boolean;
  readonly onChange: (change: Change, request: Request) => unknown;
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
}

const NAMES: readonly (keyof DashboardOptions)[] = [
  'intakes',
  'inboxes',
  'outboxes',
  'authorize',
  'allowUpdate',
  'onChange',
  'onError',
  'clock',
];

/**
 * Validates options, also of callers without types.
 *
 * @throws BackpressureError with the code of the first invalid option.
 */
export function settle(options: unknown): Settings {
  checkNames(options, 'options', NAMES);
  const given = options as DashboardOptions;
  const { authorize, allowUpdate = false, onChange = ignore, onError, clock = systemClock } = given;
  if (typeof authorize !== 'function' && (authorize as unknown) !== false) {
    throw new BackpressureError(
      'ERR_WBP_DASHBOARD_AUTHORIZE',
      `authorize must be a function, or false if anyone who can reach the page may use it, but was ${kindOf(authorize)}.`,
    );
  }
  if (typeof allowUpdate !== 'boolean') {
    throw new BackpressureError(
      'ERR_WBP_DASHBOARD_ALLOW_UPDATE',
      `allowUpdate must be a boolean, but was ${kindOf(allowUpdate)}.`,
    );
  }
  checkCallback('onChange', onChange);
  if (onError !== undefined) checkCallback('onError', onError);
  checkClock(clock);
  return {
    intakes: sources('intakes', given.intakes, isIntake),
    inboxes: sources('inboxes', given.inboxes, isInbox),
    outboxes: sources('outboxes', given.outboxes, isSender),
    authorize: authorize === false ? undefined : authorize,
    allowUpdate,
    onChange,
    onError: errorReports(onError),
    clock,
  };
}

const KINDS = { intakes: 'intake', inboxes: 'inbox', outboxes: 'sender' } as const;

function sources<T>(
  option: keyof typeof KINDS,
  given: Readonly<Record<string, T>> | undefined,
  isSource: (value: unknown) => boolean,
): ReadonlyMap<string, T> {
  if (given === undefined) return new Map();
  const kind = KINDS[option];
  if (typeof (given as unknown) !== 'object' || (given as unknown) === null || Array.isArray(given)) {
    throw wrongSource(`${option} must be an object of ${option}, such as { github: ${kind} }`, given);
  }
  for (const [name, source] of Object.entries(given)) {
    if (isSource(source)) continue;
    const hint = hasFunctions((source as Record<string, unknown> | undefined)?.[kind], 'snapshot')
      ? ` Pass the property ${kind} of the middleware.`
      : '';
    const which = `${option}[${JSON.stringify(name.slice(0, SHOWN_CHARACTERS))}]`;
    throw wrongSource(`${which} must be ${kind === 'sender' ? 'a' : 'an'} ${kind}`, source, hint);
  }
  return new Map(Object.entries(given));
}

const SHOWN_CHARACTERS = 80;

function wrongSource(rule: string, given: unknown, hint = ''): BackpressureError {
  return new BackpressureError('ERR_WBP_DASHBOARD_SOURCES', `${rule}, but was ${kindOf(given)}.${hint}`);
}

function isIntake(value: unknown): boolean {
  return hasFunctions(value, 'admit', 'snapshot', 'update');
}

function isInbox(value: unknown): boolean {
  return hasFunctions(value, 'receive', 'snapshot', 'update');
}

function isSender(value: unknown): boolean {
  return (
    hasFunctions(value, 'snapshot') && hasFunctions((value as ObservableOutbox).endpoints, 'pause', 'setRate')
  );
}

function hasFunctions(value: unknown, ...names: readonly string[]): boolean {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isObject && names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
}

function checkCallback(option: string, given: unknown): void {
  if (typeof given === 'function') return;
  throw new BackpressureError('ERR_WBP_CALLBACK', `${option} must be a function, but was ${kindOf(given)}.`);
}

/** A value in a message. Its content is left out, since it may be a secret. */
function kindOf(value: unknown): string {
  if (value === undefined || value === null || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'another object' : `of type ${typeof value}`;
}

function ignore(): void {
  // There is no callback.
}
