export { bullmqDoor } from './bullmq-door.ts';
export { deliveryOf, type WebhookJobData } from './job-data.ts';
export type { BullmqDoorOptions, BullmqLimits, BullmqQueue } from './options.ts';
