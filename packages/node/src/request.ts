export { originalUrl } from './request/read-property.ts';
export { nodeReader } from './request/reader.ts';
export { boundBody, setHeaders, writeRefusal } from './request/refuse.ts';
export { RequestAdmission, type Answers, type Verdict } from './request/request-admission.ts';
