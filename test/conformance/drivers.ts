import { adapters } from './adapters.ts';
import type { Driver } from './exchange.ts';

export const drivers: readonly Driver[] = adapters.map(({ driver }) => driver);
