import type { AllowedOrigins, SenderProfile } from '@webhook-backpressure/senders';
import type { Delivery } from '../delivery/delivery.ts';
import type { Refusal } from '../delivery/refusal.ts';
import type { Intake } from '../intake/intake.ts';
import type { IntakeOptions } from '../intake/options.ts';

/** The options of every middleware, in addition to those of the intake. `R` is the framework's request. */
export interface MiddlewareOptions<
  R,
  HandlerArguments extends readonly unknown[] = readonly unknown[],
> extends IntakeOptions {
  /** An intake to share between routes, apps and frameworks. Cannot be combined with options of an intake. */
  intake?: Intake | undefined;
  /**
   * Where the deliveries arrive: a literal path such as `/webhooks`, or a list of them. Requests to other paths pass
   * untouched. Compared with the target as the request arrived, and as it is where the middleware is mounted; without
   * regard to case, query, percent-encoding and repeated slashes, and including all paths below it. A target that routers
   * read differently, such as one with `..`, counts as a delivery. Default: all paths.
   */
  path?: string | readonly string[] | undefined;
  /**
   * Whether a request is not a delivery and passes untouched. Default: GET, HEAD and OPTIONS, except the handshake of
   * `allowedOrigins`.
   */
  skip?: ((request: R) => boolean | Promise<boolean>) | undefined;
  /**
   * The key of a delivery, a string: the share of the queue that the delivery counts against. Synchronous, so that
   * refusing stays cheap. Default, and if it returns `undefined` or `null`: the name of the recognized sender, else
   * `default`. Any other value is ignored, with one warning `WBP_KEY`.
   */
  keyGenerator?: ((request: R) => string | null | undefined) | undefined;
  /** More about a delivery. Its fields override what the sender's profile says. Synchronous. */
  delivery?: ((request: R) => Delivery) | undefined;
  /**
   * Sender profiles that take precedence over the built-in ones. The first match is used, so a profile with `match: 'all'`
   * must be the last, such as `known.mailgun` on a route that only Mailgun uses. Default none.
   */
  senders?: readonly SenderProfile[] | undefined;
  /** Adds RateLimit and RateLimit-Policy to every answer: they are the same in both drafts. Default false. */
  standardHeaders?: 'draft-8' | 'draft-11' | false | undefined;
  /** Adds X-RateLimit-Limit, -Remaining and -Reset to every answer. Default false. */
  legacyHeaders?: boolean | undefined;
  /**
   * The senders that may ask for permission with the handshake of CloudEvents (OPTIONS with `WebHook-Request-Origin`): all
   * (`*`), a list of DNS names in any case, or a function that returns `true` for allowed origins. The middleware answers
   * with the drain rate in requests per minute, or with 403. The handshake protects third parties from a sender; it does
   * not prove the sender's identity. Default `*`.
   */
  allowedOrigins?: AllowedOrigins | undefined;
  /**
   * How long a sender may take to send the body, in milliseconds, from 1 to 86,400,000. Default 5,000. Then
   * it gets 408, or the status after which it is known to retry.
   * A delivery enters the queue when its body has arrived or fills the runtime's buffer. On node:http only: other
   * runtimes do not show how much of a body has arrived.
   */
  bodyTimeoutMs?: number | undefined;
  /** Answers a refusal instead of the middleware, which has not set the headers of the refusal. */
  onRefused?: ((refusal: Refusal, ...rest: HandlerArguments) => unknown) | undefined;
}
