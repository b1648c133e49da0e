import { sample, type Sample } from './sample.ts';

const twitchHandshake: Sample = sample(
  'twitch',
  'verification of the callback',
  `Content-Type: application/json
  Twitch-Eventsub-Message-Id: e76c6bd4-55c9-4987-8304-da1588d8988b
  Twitch-Eventsub-Message-Retry: 0
  Twitch-Eventsub-Message-Type: webhook_callback_verification
  Twitch-Eventsub-Message-Signature: sha256=d10f5bd9474b7ac7bd7105eb79c
  Twitch-Eventsub-Message-Timestamp: 2026-11-20T10:11:12.123Z
  Twitch-Eventsub-Subscription-Type: stream.online
  Twitch-Eventsub-Subscription-Version: 1`,
  'e76c6bd4-55c9-4987-8304-da1588d8988b',
);

export const messaging: readonly Sample[] = [
  sample(
    'slack',
    'second attempt of an event',
    `User-Agent: Slackbot 1.0 (+https://api.slack.com/robots)
    Accept: */*
    Accept-Encoding: gzip,deflate
    Content-Type: application/json
    X-Slack-Request-Timestamp: 1763600000
    X-Slack-Signature: v0=f9c7d91f850a10d7f927f72f236c54eebdf10d5eab4428e012e0c0111bb9bff2
    X-Slack-Retry-Num: 1
    X-Slack-Retry-Reason: http_error`,
  ),
  sample(
    'discord-events',
    'webhook event',
    `User-Agent: Discord-Webhook/1.0 (+https://discord.com)
    Content-Type: application/json
    X-Signature-Ed25519: 9a10c00a02d8b5d56bf17f3059790c9603a0bba41d8e
    X-Signature-Timestamp: 1763600000`,
  ),
  sample(
    'discord',
    'interaction',
    `User-Agent: Discord-Interactions/1.0 (+https://discord.com)
    Content-Type: application/json
    X-Signature-Ed25519: 9a10c00a02d8b5d56bf17f3059790c9603a0bba41d8e
    X-Signature-Timestamp: 1763600000`,
  ),
  sample(
    'telegram',
    'update',
    `Content-Type: application/json
    Content-Length: 312
    Connection: keep-alive
    Accept-Encoding: gzip, deflate
    X-Telegram-Bot-Api-Secret-Token: a-secret_token`,
  ),
  sample(
    'line',
    'message',
    `User-Agent: LineBotWebhook/2.0
    Content-Type: application/json; charset=utf-8
    X-Line-Signature: m2w1rpaqzZ6bQZJhFwhUhzTPkM5tzjp53MwcKBPhwR0=`,
  ),
  sample(
    'twitch',
    'notification',
    `Content-Type: application/json
    Twitch-Eventsub-Message-Id: befa7b53-d79d-478f-86b9-120f112b044e
    Twitch-Eventsub-Message-Retry: 0
    Twitch-Eventsub-Message-Type: notification
    Twitch-Eventsub-Message-Signature: sha256=d66824350041dce130e3478f5a7
    Twitch-Eventsub-Message-Timestamp: 2026-11-20T10:11:12.123Z
    Twitch-Eventsub-Subscription-Type: stream.online
    Twitch-Eventsub-Subscription-Version: 1`,
    'befa7b53-d79d-478f-86b9-120f112b044e',
  ),
  twitchHandshake,
  sample(
    'twilio',
    'incoming message',
    `User-Agent: TwilioProxy/1.1
    Accept: */*
    Content-Type: application/x-www-form-urlencoded; charset=utf-8
    I-Twilio-Idempotency-Token: 803c29b1-163f-4e1a-a6c6-d74f62efab06
    X-Twilio-Signature: 4KmHiO4c1Z8cVtGC1CP8YVUkAVA=
    X-Home-Region: us1`,
    '803c29b1-163f-4e1a-a6c6-d74f62efab06',
  ),
  sample(
    'meta',
    'WhatsApp message',
    `User-Agent: facebookexternalua
    Accept: */*
    Accept-Encoding: deflate, gzip
    Content-Type: application/json
    X-Hub-Signature: sha1=2ab34b6fa6ae3ff3b3a5a3e5b2d9b8e3a1d0c9f8
    X-Hub-Signature-256: sha256=b63bb356dff0f1c24379efea2d6ef0b2e2040853339d1bcf13f9018790b1f7d2`,
  ),
  sample(
    'zoom',
    'meeting.started',
    `User-Agent: Zoom Marketplace/1.0a
    Content-Type: application/json; charset=utf-8
    Clientid: client
    X-Zm-Request-Timestamp: 1763600000
    X-Zm-Signature: v0=a05d830fa017433bc47887f835a00b9ff33d3882f22f63a2986a8es270341
    X-Zm-Trackingid: v=2.0;clid=aw1;rid=WEB_abc123`,
  ),
];
