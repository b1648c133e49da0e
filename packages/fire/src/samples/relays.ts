import { GITHUB } from './developer-tools.ts';
import { STRIPE } from './payments.ts';
import { sample, type Sample } from './sample.ts';

export const relays: readonly Sample[] = [
  sample(
    'hookdeck',
    'Stripe event, relayed',
    `${STRIPE}
    Idempotency-Key: evt_EKbUbpGzNMIdfqnXzA
    X-Hookdeck-EventID: evt_EKbUbpGzNMIdfqnXzA
    X-Hookdeck-RequestID: req_fpSzYE7G0Op42UkKvFOB
    X-Hookdeck-Attempt-Count: 1
    X-Hookdeck-Attempt-Trigger: INITIAL
    X-Hookdeck-Will-Retry-After: 3600
    X-Hookdeck-Source-Name: stripe
    X-Hookdeck-Signature: Mpto1l/p+tdzO/85huGU3lwbl7xPHr/m+13qA9PeKUQ=
    X-Hookdeck-Verified: true`,
    'evt_EKbUbpGzNMIdfqnXzA',
  ),
  sample(
    'outpost',
    'event',
    `User-Agent: Go-http-client/1.1
    Content-Type: application/json
    X-Outpost-Event-Id: evt_abc123
    X-Outpost-Topic: user.created
    X-Outpost-Timestamp: 2026-11-20T08:23:36Z
    X-Outpost-Signature: v0=5f0c9b2a
    X-Outpost-Source: signup-service`,
    'evt_abc123',
  ),
  sample(
    'convoy',
    'GitHub event, relayed',
    `${GITHUB}
    X-Convoy-Signature: 4a1f0c77e2
    X-Convoy-Idempotency-Key: 72d3162e`,
  ),
  sample(
    'svix',
    'message',
    `User-Agent: Svix-Webhooks/1.62.0
    Accept: */*
    Content-Type: application/json
    Svix-Id: msg_2KWPBgLlAfxdpx2AI54pPJ85f4W
    Svix-Timestamp: 1763600000
    Svix-Signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=`,
    'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W',
  ),
  sample(
    'svix',
    'white-labeled message',
    `User-Agent: Svix-Webhooks/1.77.0
    Accept: */*
    Content-Type: application/json
    Webhook-Id: msg_3KWPBgLlAfxdpx2AI54pPJ85f4W
    Webhook-Timestamp: 1763600000
    Webhook-Signature: v1,bN2dLyJJff95POm4+ybbcrseBOgd/v3pGU1xF1+l35M=`,
    'msg_3KWPBgLlAfxdpx2AI54pPJ85f4W',
  ),
  sample(
    'hook0',
    'event',
    `Accept: */*
    Content-Type: application/json
    X-Event-Id: 0f3c8a0d-5b1e-4f72-9d51-0f3c8a0d5b1e
    X-Event-Type: wallet.activity.detected
    X-Hook0-Signature: t=1763600000,h=content-type x-event-id,v1=85da0586ae0b711d`,
  ),
];
