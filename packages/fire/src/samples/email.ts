import { sample, type Sample } from './sample.ts';

export const email: readonly Sample[] = [
  sample(
    'sendgrid-events',
    'signed events',
    `User-Agent: SendGrid Event API
    Content-Type: application/json;charset=utf-8
    X-Twilio-Email-Event-Webhook-Signature: MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZU
    X-Twilio-Email-Event-Webhook-Timestamp: 1763600000`,
  ),
  sample(
    'sendgrid-events',
    'events without a signature',
    `User-Agent: SendGrid Event API
    Accept-Encoding: gzip
    Content-Type: application/json;charset=utf-8`,
  ),
  sample(
    'sendgrid-parse',
    'incoming mail',
    `User-Agent: Sendlib/1.0 mx0045p1mdw1.sendgrid.net
    Transfer-Encoding: chunked
    Content-Type: multipart/form-data; boundary=xYzZY`,
  ),
  sample(
    'kit',
    'subscriber.created',
    `User-Agent: Kit-Webhooks/1.0
    Content-Type: application/json
    X-Kit-Signature: t=1753797130,v1=8f4b1c0d5b1e4f729d510f3c8a0d5b1e`,
  ),
];
