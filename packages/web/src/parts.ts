// For adapters of frameworks on web-standard requests. Not part of the public API.
export { admitRequest } from './admit-request.ts';
export { enclosingDelivery, handleInside } from './enclosing-delivery.ts';
export { followResponse, withHeaders } from './follow-response.ts';
export { keepAliveForInbox, isOnWorkers, type WaitUntil } from './keep-alive.ts';
export { readBody } from './read-body.ts';
