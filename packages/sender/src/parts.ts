// What `packages/fire` uses. Not public, and changed in any release.
export { type Answer, type Requester, RequestFailure } from './requests/request.ts';
export { undiciRequester } from './requests/undici-requester.ts';
