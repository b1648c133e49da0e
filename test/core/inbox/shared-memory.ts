/** Several stores on one memory: processes with a common store, or a store that a later process opens again. */
export { MemoryState } from '../../../packages/inbox/src/store/memory/memory-state.ts';
export { MemoryStore } from '../../../packages/inbox/src/store/memory/memory-store.ts';
