import type { HmacScheme, HmacSender } from './hmac-verifier.ts';
import { bodyOf } from './verifier.ts';

/** Not checked by default: the sender does not say whether a retry gets a new timestamp. */
const UNCHECKED = { toleranceMs: Infinity };

/** `t=…,v1=…` over the timestamp, a dot and the body, as Stripe introduced it. */
const DOTTED = { list: [',', 'v1'], time: ['field', 't', 1000], message: '{time}.{body}' } as const;

/** WebSub's `sha256=…` over the body. */
const WEBSUB: Omit<HmacScheme, 'header'> = { list: [',', 'sha256'] };

/**
 * The senders that sign with HMAC, by the names of `known` in the package senders. Each has the source of its scheme; a
 * header with an id that is not signed is in the profile.
 */
export const HMAC_SENDERS: Readonly<Record<string, HmacSender>> = {
  // developers.asana.com/docs/webhooks-guide, "security"
  asana: { by: { header: 'x-hook-signature' } },
  // support.atlassian.com/bitbucket-cloud/docs/manage-webhooks, "secure webhooks"
  bitbucket: { by: { header: 'x-hub-signature', ...WEBSUB } },
  // developer.calendly.com/api-docs, "webhook signatures", which advises a tolerance of three minutes
  calendly: { by: { header: 'calendly-webhook-signature', ...DOTTED } },
  // github.com/frain-dev/convoy, pkg/signature: advanced signatures, then simple ones
  convoy: {
    by: [
      { header: 'x-convoy-signature', ...DOTTED, message: '{time},{body}' },
      // Not the text of an advanced signature, which has a timestamp.
      { header: 'x-convoy-signature', accepts: ({ text }) => !/^\d+,/.test(text()) },
    ],
  },
  // developers.docusign.com, "HMAC security with DocuSign Connect": one header for each of up to 100 keys
  docusign: { by: { header: /^x-docusign-signature-\d{1,3}$/, encoding: 'base64' } },
  // docs.gitea.com/usage/webhooks; Forgejo sends the same
  gitea: { by: { header: 'x-gitea-signature' } },
  // docs.github.com, "validating webhook deliveries"
  github: { by: { header: 'x-hub-signature-256', ...WEBSUB } },
  // hook0-client, signature.js: version 1 covers the headers that it names, version 0 only the body
  hook0: {
    by: [
      { header: 'x-hook0-signature', ...DOTTED, message: '{time}.{=h}.{headers}.{body}' },
      { header: 'x-hook0-signature', ...DOTTED, list: [',', 'v0'] },
    ],
  },
  // hookdeck.com/docs/authentication: a second header during rotation
  hookdeck: { by: { header: /^x-hookdeck-signature(?:-2)?$/, encoding: 'base64' } },
  // developers.intercom.com/docs/webhooks/setting-up-webhooks, "signed notifications"
  intercom: { by: { header: 'x-hub-signature', list: [',', 'sha1'], hash: 'SHA-1' }, id: 'id' },
  // developer.atlassian.com/cloud/jira/platform/webhooks, "secure admin webhooks"
  jira: { by: { header: 'x-hub-signature', ...WEBSUB } },
  // developers.kit.com/webhooks/verifying-signatures
  kit: { by: { header: 'x-kit-signature', ...DOTTED }, id: 'delivery_id' },
  // developers.line.biz, "verify webhook signature"
  line: { by: { header: 'x-line-signature', encoding: 'base64' } },
  // @linear/sdk, webhooks/client.ts, which allows one minute
  linear: { by: { header: 'linear-signature', time: ['body', 'webhookTimestamp', 1] } },
  // docs.merge.dev, "merge webhooks", section "security"
  merge: { by: { header: 'x-merge-webhook-signature', encoding: 'base64url' } },
  // developers.facebook.com/docs/graph-api/webhooks/getting-started, "validating payloads"; also WhatsApp, Messenger, Instagram
  meta: { by: { header: 'x-hub-signature-256', ...WEBSUB } },
  // docs.nmi.com, "webhooks": t is a nonce
  nmi: { by: { header: 'webhook-signature', list: [',', 's'], message: '{=t}.{body}' }, id: 'event_id' },
  // github.com/hookdeck/outpost, docs/content/destinations/webhook.mdoc, default templates: v0=…,… during rotation
  outpost: { by: { header: 'x-outpost-signature', list: [/^v0=|,/, ''] } },
  // developer.paddle.com, "verify webhook signatures": Paddle Billing, not Paddle Classic
  paddle: {
    by: {
      header: 'paddle-signature',
      list: [';', 'h1'],
      time: ['field', 'ts', 1000],
      message: '{time}:{body}',
    },
    id: 'event_id',
  },
  // developer.pagerduty.com/docs/webhooks/webhook-signatures: several during rotation
  pagerduty: { by: { header: 'x-pagerduty-signature', list: [',', 'v1'] }, id: 'event.id' },
  // developer.intuit.com, "webhooks", section "validating the notification"
  quickbooks: { by: { header: 'intuit-signature', encoding: 'base64' } },
  // razorpay.com/docs/webhooks/validate-test
  razorpay: { by: { header: 'x-razorpay-signature' } },
  // docs.recurly.com, "signature verification": a timestamp in milliseconds, and one or more signatures
  recurly: {
    by: {
      header: 'recurly-signature',
      list: [',', ''],
      time: ['field', '', 1],
      message: '{time}.{body}',
    },
  },
  // @sanity/webhook, signature.ts: milliseconds
  sanity: {
    by: {
      header: 'sanity-webhook-signature',
      encoding: 'base64url',
      ...DOTTED,
      ...UNCHECKED,
      time: ['field', 't', 1],
    },
  },
  // docs.sentry.io, "integration platform", "webhooks", "verifying the signature"
  sentry: { by: { header: 'sentry-hook-signature' } },
  // shopify.dev, "deliver webhooks through HTTPS", step "validate the origin of your webhook"
  shopify: { by: { header: 'x-shopify-hmac-sha256', encoding: 'base64' } },
  // docs.slack.dev, "verifying requests from Slack", and github.com/slackapi/slack-api-specs, events API: `event_id` is
  // unique across all workspaces. Commands and interactions have none, and are never retried.
  slack: {
    by: {
      header: 'x-slack-signature',
      list: [',', 'v0'],
      time: ['header', 'x-slack-request-timestamp', 1000],
      message: 'v0:{time}:{body}',
    },
    id: 'event_id',
  },
  // developer.squareup.com/docs/webhooks/step3validate
  square: {
    by: {
      header: 'x-square-hmacsha256-signature',
      encoding: 'base64',
      message: '{url}{body}',
      // Not a part of JSON, of which the URL has the rest.
      accepts: (delivery) => bodyOf(delivery) !== undefined,
    },
    id: 'event_id',
  },
  // docs.stripe.com, "verify webhook signatures manually", and "handle duplicate events". Thin events have an id too.
  stripe: { by: { header: 'stripe-signature', ...DOTTED }, id: 'id' },
  // dev.twitch.tv/docs/eventsub/handling-webhook-events, which allows ten minutes
  twitch: {
    by: {
      header: 'twitch-eventsub-message-signature',
      ...WEBSUB,
      time: ['header', 'twitch-eventsub-message-timestamp', 0],
      toleranceMs: 600_000,
      message: '{@twitch-eventsub-message-id}{time}{body}',
    },
    id: '@twitch-eventsub-message-id',
  },
  // typeform.com/developers/webhooks/secure-your-webhooks
  typeform: {
    by: { header: 'typeform-signature', encoding: 'base64', ...WEBSUB },
    id: 'event_id',
  },
  // github.com/woocommerce/woocommerce, class-wc-webhook.php, generate_signature
  woocommerce: { by: { header: 'x-wc-webhook-signature', encoding: 'base64' } },
  // developer.zendesk.com/documentation/webhooks/verifying
  zendesk: {
    by: {
      header: 'x-zendesk-webhook-signature',
      encoding: 'base64',
      time: ['header', 'x-zendesk-webhook-signature-timestamp', 0],
      ...UNCHECKED,
      message: '{time}{body}',
    },
  },
  // developers.zoom.us/docs/api/webhooks, "verify with Zoom's header"
  zoom: {
    by: {
      header: 'x-zm-signature',
      list: [',', 'v0'],
      time: ['header', 'x-zm-request-timestamp', 1000],
      ...UNCHECKED,
      message: 'v0:{time}:{body}',
    },
  },
};

/** The senders that send their secret unchanged, and the header with it. */
export const TOKEN_SENDERS: Readonly<Record<string, string>> = {
  // docs.gitlab.com/user/project/integrations/webhooks, "secret token"; its signing token follows Standard Webhooks
  gitlab: 'x-gitlab-token',
  // core.telegram.org/bots/api, "setWebhook"
  telegram: 'x-telegram-bot-api-secret-token',
};
