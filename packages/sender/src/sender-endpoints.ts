import type { Endpoints, EndpointSnapshot, Rate } from '@webhook-backpressure/observe';
import { checkInteger } from '@webhook-backpressure/base';
import { checkEndpointId } from './options/endpoint-id.ts';
import { limitOf } from './options/rates.ts';
import type { SenderParts } from './sender-parts.ts';

const DEFAULT_LIMIT = 100;

export interface EndpointsParts {
  readonly parts: SenderParts;
  /** The endpoints with events or requests, the busiest first. */
  readonly busiest: (most: number) => readonly EndpointSnapshot[];
  readonly find: (id: string) => EndpointSnapshot | undefined;
  /** Puts the dead letters of an endpoint back. */
  readonly redrive: (id: string) => void;
}

/** The actions of an operator on endpoints. */
export function senderEndpoints({ parts, busiest, find, redrive }: EndpointsParts): Endpoints {
  const { pauses, disabling, learning, directory, dispatcher, discovery, destinations } = parts;
  return {
    list: ({ limit = DEFAULT_LIMIT, offset = 0 } = {}) => {
      checkInteger('ERR_WBP_ENDPOINT', 'limit', limit, 1);
      checkInteger('ERR_WBP_ENDPOINT', 'offset', offset, 0);
      return busiest(offset + limit).slice(offset);
    },
    get: (id) => find(checkedId(id)),
    pause: async (id) => {
      await pauses.pause(checkedId(id));
    },
    resume: async (id) => {
      const wasPaused = await pauses.resume(checkedId(id));
      const wasDisabled = await disabling.enable(id);
      if (wasDisabled) {
        directory.refresh(id);
        destinations.find(id)?.learned?.health.answered(parts.now());
        redrive(id);
      }
      // A paused endpoint is not listed among those with something due.
      if (wasPaused || wasDisabled) discovery.look(true);
    },
    refresh: (id) => {
      directory.refresh(checkedId(id));
    },
    setRate: (id: string, rate: Rate | null) => {
      learning.setLimit(checkedId(id), rate === null ? undefined : limitOf(rate));
      dispatcher.rateChanged(id);
    },
  };
}

function checkedId(id: unknown): string {
  checkEndpointId('ERR_WBP_ENDPOINT', 'id', id);
  return id;
}
