import type { InboxStore, StoreAdmin } from '@webhook-backpressure/inbox';

type Args<Name extends keyof StoreAdmin> = Parameters<StoreAdmin[Name]>;
type Result<Name extends keyof StoreAdmin> = Promise<Awaited<ReturnType<StoreAdmin[Name]>>>;

/** The calls for operators and maintenance, which are passed to the thread unchanged. */
export abstract class ThreadedAdmin implements StoreAdmin {
  listShelved(...args: Args<'listShelved'>): Result<'listShelved'> {
    return this.ask('listShelved', args);
  }

  getShelved(...args: Args<'getShelved'>): Result<'getShelved'> {
    return this.ask('getShelved', args);
  }

  countShelved(...args: Args<'countShelved'>): Result<'countShelved'> {
    return this.ask('countShelved', args);
  }

  redrive(...args: Args<'redrive'>): Result<'redrive'> {
    return this.ask('redrive', args);
  }

  purge(...args: Args<'purge'>): Result<'purge'> {
    return this.ask('purge', args);
  }

  noteRoom(...args: Args<'noteRoom'>): Result<'noteRoom'> {
    return this.ask('noteRoom', args);
  }

  listPending(...args: Args<'listPending'>): Result<'listPending'> {
    return this.ask('listPending', args);
  }

  getPending(...args: Args<'getPending'>): Result<'getPending'> {
    return this.ask('getPending', args);
  }

  listCompleted(...args: Args<'listCompleted'>): Result<'listCompleted'> {
    return this.ask('listCompleted', args);
  }

  getCompleted(...args: Args<'getCompleted'>): Result<'getCompleted'> {
    return this.ask('getCompleted', args);
  }

  countCompleted(...args: Args<'countCompleted'>): Result<'countCompleted'> {
    return this.ask('countCompleted', args);
  }

  replay(...args: Args<'replay'>): Result<'replay'> {
    return this.ask('replay', args);
  }

  dropCompleted(...args: Args<'dropCompleted'>): Result<'dropCompleted'> {
    return this.ask('dropCompleted', args);
  }

  forget(...args: Args<'forget'>): Result<'forget'> {
    return this.ask('forget', args);
  }

  forgetId(...args: Args<'forgetId'>): Result<'forgetId'> {
    return this.ask('forgetId', args);
  }

  protected abstract ask<T>(call: keyof InboxStore, args: readonly unknown[]): Promise<T>;
}
