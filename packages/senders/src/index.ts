export { adviceFor, type SenderAdvice } from './advice.ts';
export {
  type AllowedOrigins,
  asksPermission,
  cloudEventsHandshake,
  type HandshakeAnswer,
} from './cloudevents-handshake.ts';
export { builtInSenders } from './profiles/built-in.ts';
export * as known from './profiles/known.ts';
export { createRecognition, idOf, isHandshake, type Recognition } from './recognition.ts';
export { resolveSenders } from './resolve-senders.ts';
export type {
  FailedAttempt,
  HeaderMatch,
  HeaderSenderProfile,
  RequestHeaders,
  RetryAfterHabit,
  RetrySchedule,
  SenderProfile,
  SwitchOffRule,
} from './sender-profile.ts';
