export { inboxRequest } from './request/inbox-request.ts';
export { nodeReader, originalUrl, setHeaders } from './request/messages.ts';
export { boundBody, writeRefusal } from './request/refuse.ts';
export { RequestAdmission, type Answers, type Verdict } from './request/request-admission.ts';
