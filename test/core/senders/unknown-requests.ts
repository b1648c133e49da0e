import { type Sample, sample } from '../../../packages/fire/src/samples/sample.ts';

export const unknownSenders: readonly Sample[] = [
  sample(
    'unknown',
    'Mailgun, whose signature is in the body',
    `User-Agent: Go-http-client/2.0
    Accept-Encoding: gzip
    Content-Type: application/json`,
  ),
  sample(
    'unknown',
    'Bitbucket Data Center, whose SHA-256 signature is in X-Hub-Signature',
    `User-Agent: Atlassian HttpClient
    Content-Type: application/json; charset=utf-8
    X-Event-Key: repo:refs_changed
    X-Request-Id: 51b0ae06-f6a7-4d1b-8f53-c0ea1f2bfa5d
    X-Hub-Signature: sha256=2ab34b6fa6ae3ff3b3a5a3e5b2d9b8e3a1d0c9f8`,
  ),
  sample(
    'unknown',
    'a browser',
    `User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0
    Accept: text/html
    Content-Type: application/x-www-form-urlencoded
    Cookie: session=1`,
  ),
  sample(
    'unknown',
    'a program whose User-Agent contains the name of a sender',
    `User-Agent: my-Svix-Webhooks/1.0 (not Amazon/EventBridge/ApiDestinations)
    Content-Type: application/x-cloudevents`,
  ),
];
