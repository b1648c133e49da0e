import { BackpressureError, invalid, isRecord } from '@webhook-backpressure/base';
import { eventTypeOf } from '../delivery/event-type.ts';
import type { InboxDelivery } from '../delivery/inbox-delivery.ts';
import type { DeliveryHandler } from './inbox-options.ts';

/** A handler of some deliveries. */
export interface EventHandler {
  readonly name: string;
  /** Of the sender; `*` for any, also an unknown one. */
  readonly sender: string;
  /** The type of the event; `*` for any, also an unknown one. */
  readonly event: string;
  readonly handle: DeliveryHandler;
}

const ANY = '*';
const MAX_CHARACTERS = 128;
/** A delivery may be stored once for each of them. */
const MAX_HANDLERS = 50;

/** The handlers of an inbox by sender and type of event. */
export class EventHandlers {
  readonly #byName = new Map<string, EventHandler>();

  /** @throws BackpressureError `ERR_WBP_ON` */
  constructor(on: unknown) {
    if (on === undefined) return;
    if (!isRecord(on)) throw invalid('ERR_WBP_ON', 'on', 'an object that maps types to functions', on);
    for (const [type, handle] of Object.entries(on)) this.add(type, handle);
  }

  /** @throws BackpressureError `ERR_WBP_ON` */
  add(type: unknown, handle: unknown, options: unknown = {}): void {
    if (typeof type !== 'string' || !isType(type)) {
      const rule = "a type, such as 'stripe', 'stripe:invoice.paid', 'stripe:*' or '*:invoice.paid'";
      throw invalid('ERR_WBP_ON', 'type', rule, type);
    }
    if (typeof handle !== 'function')
      throw invalid('ERR_WBP_ON', `the handler of ${type}`, 'a function', handle);
    const name = nameIn(options) ?? type;
    if (typeof name !== 'string' || name === '' || name.length > MAX_CHARACTERS)
      throw invalid('ERR_WBP_ON', 'name', `a text of 1 to ${String(MAX_CHARACTERS)} characters`, name);
    if (this.#byName.has(name)) {
      const sentence = `There is a handler with the name ${JSON.stringify(name)} already. Pass another { name }.`;
      throw new BackpressureError('ERR_WBP_ON', sentence);
    }
    if (this.#byName.size >= MAX_HANDLERS)
      throw new BackpressureError('ERR_WBP_ON', `An inbox has at most ${String(MAX_HANDLERS)} handlers.`);
    const [sender, event] = partsOf(type);
    this.#byName.set(name, { name, sender, event, handle: handle as DeliveryHandler });
  }

  /** The ids of the deliveries that replace one that matches several handlers. */
  partIdsOf(id: string): readonly string[] {
    return [...this.#byName.keys()].map((name) => partIdOf(id, name));
  }

  get(name: string): EventHandler | undefined {
    return this.#byName.get(name);
  }

  /** The handlers of a delivery, in the order of their registration. */
  of(delivery: InboxDelivery): readonly EventHandler[] {
    if (this.#byName.size === 0) return [];
    const { sender } = delivery;
    const bySender = [...this.#byName.values()].filter((one) => one.sender === ANY || one.sender === sender);
    // The body is parsed only if the type decides.
    if (bySender.every(({ event }) => event === ANY)) return bySender;
    const type = eventTypeOf(delivery);
    return bySender.filter(({ event }) => event === ANY || event === type);
  }
}

/** The id of the delivery of one handler. It follows from that of the whole one, so that it is stored once. */
export function partIdOf(id: string, name: string): string {
  return `${id}/${name}`;
}

/** A sender, and after the first colon the type of an event, which may contain further ones. */
function partsOf(type: string): readonly [sender: string, event: string] {
  const end = type.indexOf(':');
  return end === -1 ? [type, ANY] : [type.slice(0, end), type.slice(end + 1)];
}

function isType(type: string): boolean {
  const [sender, event] = partsOf(type);
  return sender !== '' && event !== '' && type.length <= MAX_CHARACTERS;
}

function nameIn(options: unknown): unknown {
  if (!isRecord(options)) throw invalid('ERR_WBP_ON', 'options', 'an object', options);
  for (const field of Object.keys(options))
    if (field !== 'name') throw new BackpressureError('ERR_WBP_ON', `There is no option ${field} of on().`);
  return options['name'];
}
