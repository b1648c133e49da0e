import { sample, type Sample } from './sample.ts';

export const GITHUB = `
  User-Agent: GitHub-Hookshot/044aadd
  Accept: */*
  Content-Type: application/json
  Content-Length: 7322
  X-GitHub-Delivery: 72d3162e-cc78-11e3-81ab-4c9367dc0958
  X-GitHub-Event: push
  X-GitHub-Hook-ID: 292430182
  X-GitHub-Hook-Installation-Target-ID: 79929171
  X-GitHub-Hook-Installation-Target-Type: repository
  X-Hub-Signature: sha1=7d38cdd689735b008b3c702edd92eea23791c5f6
  X-Hub-Signature-256: sha256=d57c68ca6f92289e6987922ff26938930f6e66a2d161ef06abdf1859230aa23c`;

export const developerTools: readonly Sample[] = [
  sample(
    'gitea',
    "push, with the headers of Gogs' and GitHub's",
    `User-Agent: Go-http-client/1.1
    Content-Type: application/json
    X-Gitea-Delivery: f6266f16-1bf3-46a5-9ea4-602e06ead473
    X-Gitea-Event: push
    X-Gitea-Event-Type: push
    X-Gitea-Signature: 9490a08f7d3fd62ccacad6919c9600a0fd32c8ef36b610979934cf9df7e4af0c
    X-Gogs-Delivery: f6266f16-1bf3-46a5-9ea4-602e06ead473
    X-Gogs-Event: push
    X-Hub-Signature: sha1=0f4f1d25ab6fb1aee8d5ca3d5dc32d4aa02acce1
    X-Hub-Signature-256: sha256=9490a08f7d3fd62ccacad6919c9600a0fd32c8ef36b610979934cf9df7e4af0c
    X-GitHub-Delivery: f6266f16-1bf3-46a5-9ea4-602e06ead473
    X-GitHub-Event: push
    X-GitHub-Event-Type: push`,
    'f6266f16-1bf3-46a5-9ea4-602e06ead473',
  ),
  sample('github', 'push', GITHUB, '72d3162e-cc78-11e3-81ab-4c9367dc0958'),
  sample(
    'gitlab',
    'push',
    `User-Agent: GitLab/18.6.0
    Content-Type: application/json
    Idempotency-Key: 908a6d9e-45fd-46c8-97e6-c4f350f219dd
    X-Gitlab-Event: Push Hook
    X-Gitlab-Webhook-UUID: 1a2b3c4d-0000-4000-8000-000000000001
    X-Gitlab-Instance: https://gitlab.example.com
    X-Gitlab-Event-UUID: 1a2b3c4d-0000-4000-8000-000000000002
    X-Gitlab-Token: a shared secret`,
    '908a6d9e-45fd-46c8-97e6-c4f350f219dd',
  ),
  sample(
    'bitbucket',
    'push, whose SHA-256 signature is in X-Hub-Signature',
    `User-Agent: Bitbucket-Webhooks/2.0
    Content-Type: application/json
    X-Event-Key: repo:push
    X-Hook-UUID: 908a6d9e-45fd-46c8-97e6-c4f350f219dd
    X-Request-UUID: 51b0ae06-f6a7-4d1b-8f53-c0ea1f2bfa5d
    X-Attempt-Number: 1
    X-Hub-Signature: sha256=2ab34b6fa6ae3ff3b3a5a3e5b2d9b8e3a1d0c9f8`,
  ),
  sample(
    'jira',
    'issue updated, signed',
    `User-Agent: Atlassian Webhook HTTP Client
    Content-Type: application/json; charset=UTF-8
    X-Atlassian-Webhook-Identifier: 5e0f3a8c-5b1e-4f72-9d51-0f3c8a0d5b1e
    X-Hub-Signature: sha256=2ab34b6fa6ae3ff3b3a5a3e5b2d9b8e3a1d0c9f8`,
    '5e0f3a8c-5b1e-4f72-9d51-0f3c8a0d5b1e',
  ),
  sample(
    'linear',
    'issue updated',
    `User-Agent: Linear-Webhook
    Accept-Charset: utf-8
    Content-Type: application/json; charset=utf-8
    Linear-Delivery: 234d1a4e-b617-4388-90fe-adc3633d6b72
    Linear-Event: Issue
    Linear-Signature: 766e1d90a96e2f5ecec342a99c5552999dd95d49250171b902d703fd674f5086`,
    '234d1a4e-b617-4388-90fe-adc3633d6b72',
  ),
  sample(
    'sentry',
    'alert',
    `User-Agent: sentry/26.10.0 (https://sentry.io)
    Content-Type: application/json
    Request-ID: 0f3c8a0d5b1e4f729d510f3c8a0d5b1e
    Sentry-Hook-Resource: event_alert
    Sentry-Hook-Signature: 4a1f0c77e2
    Sentry-Hook-Timestamp: 1763600000`,
    '0f3c8a0d5b1e4f729d510f3c8a0d5b1e',
  ),
  sample(
    'pagerduty',
    'incident.triggered',
    `User-Agent: PagerDuty-Webhook/V3.0
    Content-Type: application/json
    X-PagerDuty-Signature: v1=fdc9ff7cdbac4c2dc2ba3fd9d5e5a0bf9e3a,v1=4a1f0c77e2
    X-Webhook-Id: c4ad9c9e-4b5d-4ee6-9f2b-4a0f5b7a0c11`,
  ),
  sample(
    'sanity',
    'document published',
    `User-Agent: Sanity.io webhook delivery
    Accept-Encoding: gzip
    Content-Type: application/json
    Idempotency-Key: c2mXh4n3pQ0v1yXK
    Sanity-Dataset: production
    Sanity-Document-Id: post-1
    Sanity-Operation: update
    Sanity-Project-Id: 454gxa26
    Sanity-Transaction-Id: q5b1e4f729d510f3
    Sanity-Transaction-Time: 2026-11-20T18:00:27.877Z
    Sanity-Webhook-Id: hLk0c7Yw
    Sanity-Webhook-Signature: t=1763600000000,v1=K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN`,
    'c2mXh4n3pQ0v1yXK',
  ),
];
