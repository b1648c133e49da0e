import { BackpressureError } from '@webhook-backpressure/base';

/**
 * Loads the package `pg`, only for those who need it: a pool may come from another copy, and printing the schema needs
 * none.
 *
 * @throws BackpressureError `ERR_WBP_POSTGRES_CONNECTION` if it is not installed or cannot be loaded.
 */
export async function loadPg(): Promise<typeof import('pg').default> {
  try {
    return (await import('pg')).default;
  } catch (error) {
    throw new BackpressureError(
      'ERR_WBP_POSTGRES_CONNECTION',
      'The package pg cannot be loaded. Run npm install pg.',
      { cause: error },
    );
  }
}
