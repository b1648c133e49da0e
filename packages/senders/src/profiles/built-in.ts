import type { HeaderSenderProfile } from '../sender-profile.ts';
import * as known from './known.ts';

/**
 * The profiles of all senders that are recognized by a header. The first profile that matches a request identifies its
 * sender, so relays come before the senders whose headers they forward, and known senders before the standards that
 * they follow.
 */
export const builtInSenders: readonly HeaderSenderProfile[] = [
  // Relays.
  known.hookdeck,
  known.outpost,
  known.convoy,
  known.svix,
  known.svixWhiteLabel,
  known.hook0,
  // Clouds, to which users can add any headers.
  known.awsSns,
  known.awsEventbridge,
  known.googlePubsub,
  known.googlePubsubWrapped,
  known.googlePush,
  known.azureEventGrid,
  // Developer tools. Gitea sends GitHub's headers too.
  known.gitea,
  known.github,
  known.gitlab,
  known.bitbucket,
  known.jira,
  known.linear,
  known.sentry,
  known.pagerduty,
  known.sanity,
  // Payments.
  known.stripe,
  known.paypal,
  known.square,
  known.plaid,
  known.razorpay,
  known.paddle,
  known.quickbooks,
  known.recurly,
  // Shops.
  known.shopify,
  known.woocommerce,
  // Business.
  known.hubspotWorkflows,
  known.hubspot,
  known.highlevel,
  known.highlevelLegacy,
  known.merge,
  known.zendesk,
  known.asana,
  known.asanaHandshake,
  known.typeform,
  known.calendly,
  known.docusign,
  // Messaging and email. Discord's events have the headers of its interactions too.
  known.slack,
  known.discordEvents,
  known.discord,
  known.telegram,
  known.line,
  known.twitch,
  known.twilio,
  known.sendgridEvents,
  known.sendgridEventsUnsigned,
  known.sendgridParse,
  known.kit,
  known.zoom,
  // These two match headers that others send too.
  known.meta,
  known.intercom,
  // Standards.
  known.cloudevents,
  known.cloudeventsStructured,
  known.standardWebhooks,
];
