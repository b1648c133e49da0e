/**
 * The size of a sender's most common event, in bytes, and its members that receivers read, in the vendor's form: the pages
 * of the vendors, as `packages/senders` names them. `{id}` is the id of the delivery, `{at}` when the run began in seconds,
 * `{now}` the present time in milliseconds, and `{pad}` text that brings the body to its size. Then the form of
 * the id, if it is in the body only.
 */
const BODIES: Readonly<Record<string, readonly [bytes: number, text: string, id?: string]>> = {
  stripe: [
    2314,
    `{"id":"{id}","object":"event","api_version":"2026-10-29.clover","created":{at},"data":{"object":{"id":"ch_{id}",
    "object":"charge","amount":2000,"currency":"eur","description":"{pad}","paid":true}},"livemode":false,
    "pending_webhooks":1,"request":{"id":null,"idempotency_key":null},"type":"charge.succeeded"}`,
    'evt_3NG8Du2eZvKYlo2C0VI79vXW',
  ],
  github: [
    7322,
    `{"ref":"refs/heads/main","before":"6113728f27ae82c7b1a177c8d03f9e96e0adf246","after":"0d1a26e67d8f5eaf1f6ba5c57fc3c7d9",
    "repository":{"id":186853002,"name":"Hello-World","full_name":"octocat/Hello-World","private":false},
    "pusher":{"name":"octocat"},"sender":{"id":583231,"login":"octocat","type":"User"},
    "commits":[{"id":"{id}","message":"{pad}","added":[],"removed":[],"modified":["README.md"]}]}`,
  ],
  gitlab: [
    3500,
    `{"object_kind":"push","event_name":"push","ref":"refs/heads/main","project":{"id":15,"name":"Diaspora"},
    "commits":[{"id":"{id}","message":"{pad}"}],"total_commits_count":1}`,
  ],
  shopify: [
    8000,
    `{"id":{at},"admin_graphql_api_id":"gid://shopify/Order/{id}","currency":"EUR","email":"jon@example.com",
    "financial_status":"paid","total_price":"398.00","note":"{pad}",
    "line_items":[{"title":"Espresso cups, set of 4","sku":"CUP-ESP-4","price":"199.00","quantity":2}]}`,
  ],
  woocommerce: [
    4000,
    `{"id":{at},"number":"{id}","status":"processing","currency":"EUR","total":"398.00","customer_note":"{pad}"}`,
  ],
  slack: [
    700,
    `{"team_id":"T0001","api_app_id":"A0001","event":{"type":"message","channel":"C0001","user":"U0001","text":"{pad}",
    "ts":"1763600000.000200"},"type":"event_callback","event_id":"{id}","event_time":{at}}`,
    'Ev08MFMKH6',
  ],
  square: [
    1200,
    `{"merchant_id":"6SSW7HV8K2ST5","type":"payment.created","event_id":"{id}","created_at":"2026-11-20T22:28:00Z",
    "data":{"type":"payment","id":"{id}","object":{"payment":{"amount_money":{"amount":1000},"note":"{pad}"}}}}`,
  ],
  paypal: [
    1500,
    `{"id":"WH-{id}","event_version":"1.0","resource_type":"capture","event_type":"PAYMENT.CAPTURE.COMPLETED",
    "resource":{"id":"{id}","amount":{"currency_code":"EUR","value":"20.00"},"note_to_payer":"{pad}"}}`,
  ],
  paddle: [
    3500,
    `{"event_id":"{id}","event_type":"transaction.completed","data":{"id":"txn_{id}","custom_data":{"note":"{pad}"}}}`,
  ],
  discord: [
    800,
    `{"id":"{id}","application_id":"1234560123453231555","type":2,"token":"t","version":1,
    "data":{"id":"{id}","name":"order","options":[{"name":"note","type":3,"value":"{pad}"}]}}`,
  ],
  'discord-events': [
    400,
    `{"version":1,"application_id":"1234560123453231555","type":1,
    "event":{"type":"APPLICATION_AUTHORIZED","timestamp":"2026-11-20T18:00:27Z","data":{"id":"{id}","note":"{pad}"}}}`,
  ],
  linear: [
    1500,
    `{"action":"update","type":"Issue","data":{"id":"{id}","title":"{pad}"},"webhookTimestamp":{now},"webhookId":"{id}"}`,
  ],
  hubspot: [
    400,
    `[{"eventId":"{id}","subscriptionId":12,"portalId":33,"occurredAt":{at},"attemptNumber":0,"objectId":123,
    "subscriptionType":"contact.creation","changeSource":"{pad}"}]`,
    '3816279340',
  ],
  intercom: [
    1500,
    `{"type":"notification_event","topic":"conversation.user.created","id":"{id}","created_at":{at},
    "data":{"type":"notification_event_data","item":{"type":"conversation","body":"{pad}"}}}`,
  ],
  pagerduty: [
    1500,
    `{"event":{"id":"{id}","event_type":"incident.triggered","resource_type":"incident","data":{"title":"{pad}"}}}`,
  ],
  highlevel: [
    800,
    `{"type":"ContactCreate","locationId":"ve9EPM428h8vShlRW1KT","id":"{id}","note":"{pad}","webhookId":"{id}"}`,
  ],
  meta: [
    600,
    `{"object":"whatsapp_business_account","entry":[{"id":"102290129340398","changes":[{"field":"messages",
    "value":{"messages":[{"id":"wamid.{id}","text":{"body":"{pad}"}}]}}]}]}`,
  ],
  zoom: [
    700,
    `{"event":"meeting.started","event_ts":{at},"payload":{"account_id":"abc","object":{"uuid":"{id}","topic":"{pad}"}}}`,
  ],
  telegram: [
    312,
    `{"update_id":{at},"message":{"message_id":1365,"date":{at},"chat":{"id":1111,"type":"private"},"text":"{id} {pad}"}}`,
  ],
  line: [
    500,
    `{"destination":"U8e742f61d673b39c7fff3cecb7536ef0","events":[{"type":"message","webhookEventId":"{id}",
    "message":{"type":"text","id":"{id}","text":"{pad}"}}]}`,
  ],
  twitch: [
    700,
    `{"subscription":{"id":"{id}","type":"stream.online","version":"1"},
    "event":{"broadcaster_user_id":"1337","title":"{pad}"}}`,
  ],
  typeform: [
    2000,
    `{"event_id":"{id}","event_type":"form_response","form_response":{"form_id":"lT4Z3j","answers":["{pad}"]}}`,
  ],
  kit: [800, `{"delivery_id":"{id}","type":"subscriber.created","data":{"note":"{pad}"}}`],
  nmi: [1500, `{"event_id":"{id}","event_type":"transaction.sale.success","event_body":{"note":"{pad}"}}`],
  twilio: [
    170,
    `AccountSid=AC0123456789abcdef0123456789abcdef&Body=Hello&From=%2B15005550006&MessageSid={id}&To=%2B15005550001`,
    'SM5f0c9b2a3b1e4f729d510f3c8a0d5b1e',
  ],
  'sendgrid-events': [
    2000,
    `[{"email":"a@example.com","timestamp":{at},"event":"delivered","sg_event_id":"{id}","sg_message_id":"{id}.0",
    "response":"{pad}"}]`,
  ],
  'sendgrid-parse': [
    200,
    '--xYzZY\r\nContent-Disposition: form-data; name="subject"\r\n\r\n{id}\r\n--xYzZY--\r\n',
  ],
  'aws-sns': [
    1336,
    `{"Type":"Notification","MessageId":"{id}","TopicArn":"arn:aws:sns:us-west-2:123456789012:MyTopic","Message":"{pad}",
    "SignatureVersion":"1"}`,
  ],
  'google-pubsub': [
    512,
    `{"message":{"messageId":"{id}","data":"SGVsbG8=","attributes":{"note":"{pad}"}},
    "subscription":"projects/p/subscriptions/s"}`,
  ],
  'google-push': [0, ''],
  'azure-event-grid': [
    812,
    `[{"id":"{id}","eventType":"Microsoft.Storage.BlobCreated","subject":"{pad}","data":{},"dataVersion":"1"}]`,
  ],
  braintree: [300, 'bt_signature=public%7Csignature&bt_payload={id}'],
};

/** For senders without a row, or whose form is not published. */
const GENERIC: readonly [number, string] = [
  1500,
  `{"id":"{id}","type":"event","created":{at},"data":{"note":"{pad}"}}`,
];

/** Text without quotation marks, so that it is the same in JSON. */
const PAD = 'Please leave it with the neighbours at no. 12 if the bell is broken. ';

/**
 * The body of a sender's event.
 *
 * @param id - any id of the sender, for its length.
 * @returns the text with the places `{id}` and `{now}`.
 */
export function bodyOf(sender: string, id: string, atMs: number): string {
  const [bytes, raw] = BODIES[sender] ?? GENERIC;
  const text = raw.replaceAll(/\n {4}/g, '').replaceAll('{at}', String(Math.floor(atMs / 1000)));
  const short = text.replaceAll('{id}', id).replace('{now}', String(atMs)).replace('{pad}', '');
  return text.replace(
    '{pad}',
    PAD.repeat(Math.ceil(bytes / PAD.length)).slice(0, Math.max(0, bytes - short.length)),
  );
}

/** The form of a sender's ids, for one whose requests have none in a header. */
export function idFormOf(sender: string): string {
  return BODIES[sender]?.[2] ?? '72d3162e-cc78-41e3-81ab-4c9367dc0958';
}
