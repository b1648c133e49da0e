import { answer } from '../pinned.ts';
import { batching, type Batching } from './batching.ts';
import { growth, type Backlog, type Growth } from './growth.ts';
import { openTransaction, type OpenTransaction } from './open-transaction.ts';

/** What to measure, in a schema of this name. */
export type Order = { readonly connectionString: string; readonly name: string } & (
  | { readonly batchingForSeconds: number }
  | { readonly openTransaction: { readonly seconds: number; readonly heldSeconds: number } }
  | { readonly backlog: Backlog }
);

answer(async (order: Order): Promise<Batching | OpenTransaction | Growth> => {
  const { connectionString, name } = order;
  if ('batchingForSeconds' in order) return await batching(connectionString, name, order.batchingForSeconds);
  if ('openTransaction' in order) return await openTransaction(connectionString, name, order.openTransaction);
  return await growth(connectionString, name, order.backlog);
});
