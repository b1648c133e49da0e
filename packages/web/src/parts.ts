// For adapters of frameworks on web-standard requests. Not part of the public API.
export { admitRequest } from './request/admit-request.ts';
export { enclosingDelivery, handleInside } from './request/enclosing-delivery.ts';
export { followResponse, withHeaders } from './response/follow-response.ts';
export { keepAliveForInbox, isOnWorkers, type WaitUntil } from './platform/keep-alive.ts';
export { readBody } from './request/request-of.ts';
