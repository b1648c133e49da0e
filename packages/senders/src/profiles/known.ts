/*
 * The profiles of all senders, by name: `known.stripe`. Users name a sender on its route with them, or correct a profile.
 * Each module holds one subject.
 */
export * from './relays.ts';
export * from './clouds.ts';
export * from './developer-tools.ts';
export * from './payments.ts';
export * from './shops.ts';
export * from './business.ts';
export * from './messaging.ts';
export * from './email.ts';
export * from './standards.ts';
