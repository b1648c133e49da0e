export { bullmqDoor } from './bullmq-store.ts';
export { deliveryOf, type WebhookJobData } from './jobs.ts';
export type { BullmqDoorOptions, BullmqLimits, BullmqQueue } from './options.ts';
