export { Entrance, type Answers, type Verdict } from './request/enter.ts';
export { boundBody } from './request/refuse.ts';
export { originalUrl } from './request/read-property.ts';
