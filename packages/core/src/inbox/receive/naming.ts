import { DEFAULT_KEY, type Delivery } from '../../delivery/delivery.ts';
import type { RawDelivery } from '../delivery/inbox-delivery.ts';
import { boundedId, boundedName, generatedId, toldName } from '../delivery/inbox-ids.ts';
import type { InboxOptions } from '../settings/inbox-options.ts';

/** What a delivery is called in the store. */
export interface Names {
  readonly id: string;
  readonly key: string;
  /** Nobody gave it an id. */
  readonly isIdGenerated: boolean;
}

/** The id and the key of a delivery: what the options say, else what is known by its headers. */
export async function namesOf(
  options: Pick<InboxOptions<never>, 'id' | 'keyGenerator'>,
  raw: RawDelivery,
  delivery: Delivery,
): Promise<Names> {
  const given = await boundedId(toldName('id', options.id?.(raw)) ?? '');
  const known = given === '' ? await boundedId(delivery.id ?? '') : given;
  const key = await boundedName(
    toldName('keyGenerator', options.keyGenerator?.(raw)) ?? delivery.key ?? DEFAULT_KEY,
  );
  const isIdGenerated = known === '';
  return { id: isIdGenerated ? generatedId() : known, key, isIdGenerated };
}
