import { sample, type Sample } from './sample.ts';

const SNS = `
  User-Agent: Amazon Simple Notification Service Agent
  Content-Type: text/plain; charset=UTF-8
  Content-Length: 1336
  X-Amz-Sns-Message-Id: 165545c9-2a5c-472c-8df2-7ff2be2b3b1b
  X-Amz-Sns-Topic-Arn: arn:aws:sns:us-west-2:123456789012:MyTopic
  Accept-Encoding: gzip,deflate`;

const EVENT_GRID = `
  Content-Type: application/json; charset=utf-8
  Content-Length: 812
  Aeg-Subscription-Name: MY-SUBSCRIPTION
  Aeg-Delivery-Count: 0
  Aeg-Data-Version: 1
  Aeg-Metadata-Version: 1
  Accept-Encoding: gzip`;

const snsHandshake = sample(
  'aws-sns',
  'subscription confirmation',
  `${SNS}
  X-Amz-Sns-Message-Type: SubscriptionConfirmation`,
);

const eventGridHandshake = sample(
  'azure-event-grid',
  'subscription validation',
  `${EVENT_GRID}
  Aeg-Event-Type: SubscriptionValidation`,
);

export const clouds: readonly Sample[] = [
  sample(
    'aws-sns',
    'notification',
    `${SNS}
    X-Amz-Sns-Message-Type: Notification
    X-Amz-Sns-Subscription-Arn: arn:aws:sns:us-west-2:123456789012:MyTopic:c9135db0`,
    '165545c9-2a5c-472c-8df2-7ff2be2b3b1b',
  ),
  snsHandshake,
  sample(
    'aws-eventbridge',
    'API destination',
    `User-Agent: Amazon/EventBridge/ApiDestinations
    Content-Type: application/json; charset=utf-8
    Content-Length: 402
    Range: bytes=0-1048575
    Accept-Encoding: gzip,deflate
    Connection: close
    Authorization: Basic dXNlcjpwYXNz`,
  ),
  sample(
    'google-pubsub',
    'push',
    `User-Agent: CloudPubSub-Google
    From: noreply@google.com
    Content-Type: application/json
    Content-Length: 512
    Authorization: Bearer eyJhbGciOiJSUzI1NiJ9.e30.c2ln
    Accept-Encoding: gzip, deflate, br`,
  ),
  sample(
    'google-pubsub',
    'push without wrapper, whose attributes are headers',
    `User-Agent: APIs-Google; (+https://developers.google.com/webmasters/APIs-Google.html)
    Content-Type: application/octet-stream
    X-Goog-Pubsub-Message-Id: 2070443601311540
    X-Goog-Pubsub-Publish-Time: 2026-11-20T09:00:00.000Z
    X-Goog-Pubsub-Subscription-Name: projects/p/subscriptions/s
    Stripe-Signature: an attribute of the message`,
    '2070443601311540',
  ),
  sample(
    'google-push',
    'Calendar notification',
    `User-Agent: APIs-Google; (+https://developers.google.com/webmasters/APIs-Google.html)
    Content-Type: application/json; utf-8
    Content-Length: 0
    X-Goog-Channel-ID: 4ba78bf0-6a47-11e2-bcfd-0800200c9a66
    X-Goog-Channel-Token: 398348u3tu83ut8uu38
    X-Goog-Message-Number: 10
    X-Goog-Resource-ID: ret08u3rv24htgh289g
    X-Goog-Resource-State: exists
    X-Goog-Resource-URI: https://www.googleapis.com/calendar/v3/calendars/primary/events`,
  ),
  sample(
    'azure-event-grid',
    'notification',
    `${EVENT_GRID}
    Aeg-Event-Type: Notification`,
  ),
  sample(
    'azure-event-grid',
    'notification as a CloudEvent',
    `Content-Type: application/cloudevents+json; charset=utf-8
    Aeg-Subscription-Name: MY-SUBSCRIPTION
    Aeg-Delivery-Count: 2
    Aeg-Event-Type: Notification
    WebHook-Request-Origin: eventgrid.azure.net`,
  ),
  eventGridHandshake,
];
