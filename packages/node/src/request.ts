export { RequestAdmission, type Answers, type Verdict } from './request/request-admission.ts';
export { boundBody } from './request/refuse.ts';
export { originalUrl } from './request/read-property.ts';
