export { collect, type CollectOptions } from './collect.ts';
