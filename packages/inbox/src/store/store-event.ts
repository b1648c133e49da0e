/** Something that a store reports without having been called. */
export type StoreEvent =
  /**
   * Another process has stored or released deliveries, so that workers look for some now. The store calls it rarely, and
   * at different moments in the processes that share it.
   */
  | { readonly type: 'due' }
  /**
   * The store works, but something needs an operator: its server starves claims, or a clock is wrong. The inbox reports
   * it as `store-warning`. `code` is stable. `message` is logged and printed, so it contains nothing of a delivery.
   */
  | { readonly type: 'warning'; readonly code: `WBP_${string}`; readonly message: string };
