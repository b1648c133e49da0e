export { Entrance, type Answers, type Verdict } from './enter.ts';
export { boundBody } from './refuse.ts';
export { originalUrl } from './look.ts';
