import { sample, type Sample } from './sample.ts';

const asanaHandshake: Sample = sample(
  'asana',
  'handshake',
  `Content-Type: application/json
  Content-Length: 2
  X-Hook-Secret: b537207f20cbfa02357cf448134da559e8bd39d61597dcd5631b8012eae53e81`,
);

export const business: readonly Sample[] = [
  sample(
    'hubspot-workflows',
    'workflow action',
    `User-Agent: HubSpot Connect 2.0 (http://dev.hubspot.com/) - WorkflowsWebhook
    Content-Type: application/json
    X-HubSpot-Request-Timestamp: 1763600000000
    X-HubSpot-Signature: 69be9bd66f96a3f3ed7ac18d1a8d6f9a38b2c6b8
    X-HubSpot-Signature-Version: v2
    X-HubSpot-Signature-v3: GMupBqijZdO2OoFsfNLc78nY01nm76QSDxKcwVzAOrg=`,
  ),
  sample(
    'hubspot',
    'subscription of an app',
    `User-Agent: HubSpot Connect 2.0 (http://dev.hubspot.com/) (namespace: webhooks-nio-http-client) - WebhooksExecutorDaemon-executor
    Accept: */*
    Content-Type: application/json
    X-HubSpot-Request-Timestamp: 1763600000000
    X-HubSpot-Signature: f79b8b68e04d31c8dc9268f1858c8d28e6d54688aa94a1563b85bf452c09a43b
    X-HubSpot-Signature-v3: GMupBqijZdO2OoFsfNLc78nY01nm76QSDxKcwVzAOrg=
    X-HubSpot-Signature-Version: v1
    X-HubSpot-Timeout-Millis: 10000`,
  ),
  sample(
    'merge',
    'linked account',
    `User-Agent: Merge/Webhooks
    Content-Type: application/json
    X-Merge-Webhook-Signature: 4JjQ0gUB3XWmWQ5DbGV5`,
  ),
  sample(
    'highlevel',
    'contact created',
    `User-Agent: axios/1.7.9
    Content-Type: application/json
    X-GHL-Signature: 9a10c00a02d8b5d56bf17f3059790c9603a0bba41d8e
    X-WH-Signature: 4KmHiO4c1Z8cVtGC1CP8YVUkAVA=`,
  ),
  sample(
    'highlevel',
    'contact created, with the former signature only',
    `User-Agent: axios/1.7.9
    Content-Type: application/json
    X-WH-Signature: 4KmHiO4c1Z8cVtGC1CP8YVUkAVA=`,
  ),
  sample(
    'zendesk',
    'ticket created',
    `User-Agent: Zendesk Webhook
    Content-Type: application/json; charset=utf-8
    X-Zendesk-Account-Id: 123456
    X-Zendesk-Webhook-Id: 01F1KRFQ6BG29CNWFR60NK5FNY
    X-Zendesk-Webhook-Invocation-Id: 01F1KS0ZQ3D5RRVS36GXAHSQ3P
    X-Zendesk-Webhook-Signature: EiqWE3SXTPQpPulBV6OSuuGziIishZNc1VwNZYqZrHU=
    X-Zendesk-Webhook-Signature-Timestamp: 2026-11-20T05:09:27Z`,
    '01F1KS0ZQ3D5RRVS36GXAHSQ3P',
  ),
  sample(
    'asana',
    'task changed',
    `Content-Type: application/json
    X-Hook-Signature: 1d3207b2e2e2b3a1f5c0c1c1e9c2ab34b6fa6ae3
    X-Request-Signature: 1d3207b2e2e2b3a1f5c0c1c1e9c2ab34b6fa6ae3`,
  ),
  asanaHandshake,
  sample(
    'typeform',
    'form response',
    `User-Agent: Typeform Webhooks
    Content-Type: application/json
    Typeform-Signature: sha256=5f0c9b2aEiqWE3SXTPQpPulBV6OSuuGziIishZNc1Vw=`,
  ),
  sample(
    'calendly',
    'invitee.created',
    `User-Agent: Calendly
    Content-Type: application/json
    Calendly-Webhook-Signature: t=1763600000,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd`,
  ),
  sample(
    'docusign',
    'envelope completed',
    `User-Agent: docusign-connect
    Content-Type: application/json; charset=utf-8
    X-Authorization-Digest: HMACSHA256
    X-DocuSign-AccountId: 61e6f3d4
    X-DocuSign-Signature-1: EiqWE3SXTPQpPulBV6OSuuGziIishZNc1VwNZYqZrHU=`,
  ),
  sample(
    'intercom',
    'notification',
    `User-Agent: intercom-parrot-service-client/1.0
    Accept: application/json
    Content-Type: application/json
    X-Hub-Signature: sha1=21ff2e149e0fdcac6f947740f6177f6434bda921`,
  ),
];
