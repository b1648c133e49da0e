export type { Choices } from './chosen.ts';
export { compose, type Surroundings } from './compose.ts';
