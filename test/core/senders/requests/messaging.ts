import { request, type Request } from './request.ts';

export const messaging: readonly Request[] = [
  request(
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
  request(
    'discord-events',
    'webhook event',
    `User-Agent: Discord-Webhook/1.0 (+https://discord.com)
    Content-Type: application/json
    X-Signature-Ed25519: 9a10c00a02d8b5d56bf17f3059790c9603a0bba41d8e
    X-Signature-Timestamp: 1763600000`,
  ),
  request(
    'discord',
    'interaction',
    `User-Agent: Discord-Interactions/1.0 (+https://discord.com)
    Content-Type: application/json
    X-Signature-Ed25519: 9a10c00a02d8b5d56bf17f3059790c9603a0bba41d8e
    X-Signature-Timestamp: 1763600000`,
  ),
  request(
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
  request(
    'sendgrid-events',
    'signed events',
    `User-Agent: SendGrid Event API
    Content-Type: application/json;charset=utf-8
    X-Twilio-Email-Event-Webhook-Signature: MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZU
    X-Twilio-Email-Event-Webhook-Timestamp: 1763600000`,
  ),
  request(
    'sendgrid-events',
    'events without a signature',
    `User-Agent: SendGrid Event API
    Accept-Encoding: gzip
    Content-Type: application/json;charset=utf-8`,
  ),
  request(
    'sendgrid-parse',
    'incoming mail',
    `User-Agent: Sendlib/1.0 mx0045p1mdw1.sendgrid.net
    Transfer-Encoding: chunked
    Content-Type: multipart/form-data; boundary=xYzZY`,
  ),
  request(
    'meta',
    'WhatsApp message',
    `User-Agent: facebookexternalua
    Accept: */*
    Accept-Encoding: deflate, gzip
    Content-Type: application/json
    X-Hub-Signature: sha1=2ab34b6fa6ae3ff3b3a5a3e5b2d9b8e3a1d0c9f8
    X-Hub-Signature-256: sha256=b63bb356dff0f1c24379efea2d6ef0b2e2040853339d1bcf13f9018790b1f7d2`,
  ),
  request(
    'zoom',
    'meeting.started',
    `User-Agent: Zoom Marketplace/1.0a
    Content-Type: application/json; charset=utf-8
    Clientid: client
    X-Zm-Request-Timestamp: 1763600000
    X-Zm-Signature: v0=a05d830fa017433bc47887f835a00b9ff33d3882f22f63a2986a8es270341
    X-Zm-Trackingid: v=2.0;clid=aw1;rid=WEB_abc123`,
  ),
  request(
    'intercom',
    'notification',
    `User-Agent: intercom-parrot-service-client/1.0
    Accept: application/json
    Content-Type: application/json
    X-Hub-Signature: sha1=21ff2e149e0fdcac6f947740f6177f6434bda921`,
  ),
];
