import { sample, type Sample } from './sample.ts';

export const standards: readonly Sample[] = [
  sample(
    'cloudevents',
    'binary mode',
    `User-Agent: Go-http-client/1.1
    Content-Type: application/json
    Ce-Id: 1
    Ce-Source: /sensors/tn-1234567
    Ce-Specversion: 1.0
    Ce-Type: com.example.someevent
    WebHook-Request-Origin: eventemitter.example.com`,
  ),
  sample(
    'cloudevents',
    'structured mode, a batch',
    `User-Agent: Go-http-client/1.1
    Content-Type: Application/CloudEvents-batch+json; charset=utf-8`,
  ),
  sample(
    'standard-webhooks',
    'webhook',
    `User-Agent: example/1.0
    Content-Type: application/json
    Webhook-Id: msg_2KWPBgLlAfxdpx2AI54pPJ85f4W
    Webhook-Timestamp: 1763600000
    Webhook-Signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=`,
    'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W',
  ),
];
