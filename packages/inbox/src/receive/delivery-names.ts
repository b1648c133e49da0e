import { DEFAULT_KEY } from '@webhook-backpressure/core/extend';
import type { Delivery } from '@webhook-backpressure/core';
import type { RawDelivery } from '../delivery/inbox-delivery.ts';
import { boundedId, boundedName, generatedId, returnedName } from './bounded-names.ts';
import type { InboxOptions } from '../options/inbox-options.ts';

/** The names of a delivery in the store. */
export interface Names {
  readonly id: string;
  readonly key: string;
  /** Whether the id was generated, because neither an option nor the headers have one. */
  readonly isIdGenerated: boolean;
}

/** The id and the key of a delivery: from the options, else from the headers. */
export async function namesOf(
  options: Pick<InboxOptions<never>, 'id' | 'keyGenerator'>,
  raw: RawDelivery,
  delivery: Delivery,
): Promise<Names> {
  const given = await boundedId(returnedName('id', options.id?.(raw)) ?? '');
  const known = given === '' ? await boundedId(delivery.id ?? '') : given;
  const key = await boundedName(
    returnedName('keyGenerator', options.keyGenerator?.(raw)) ?? delivery.key ?? DEFAULT_KEY,
  );
  const isIdGenerated = known === '';
  return { id: isIdGenerated ? generatedId() : known, key, isIdGenerated };
}
