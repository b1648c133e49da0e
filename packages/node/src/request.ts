export { Entrance, type Verdict } from './enter.ts';
export { boundBody } from './refuse.ts';
