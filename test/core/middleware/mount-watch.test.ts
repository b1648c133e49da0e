import { expect, it, vi } from 'vitest';
import { createAdmissionControl } from '@webhook-backpressure/core/middleware';
import type { MiddlewareOptions } from '@webhook-backpressure/core';
import { handled, reader, type Request } from './admission-controls.ts';

const STRIPE = { 'stripe-signature': 't=1,v1=0' };

/** The warnings after these deliveries. */
function warned(
  deliveries: readonly (readonly [target: string, headers?: Record<string, string>])[],
  options: MiddlewareOptions<Request> = {},
  isForWholeApp = true,
): string[] {
  const warn = vi.fn();
  const mounted = createAdmissionControl<Request, []>(options, {
    ...reader,
    isForWholeApp: () => isForWholeApp,
    warn,
  });
  for (const [target, headers = {}] of deliveries) handled(mounted, { method: 'POST', target, headers });
  return warn.mock.calls.map((call) => call.join(': '));
}

it('a middleware for a whole app warns once of what else it limits', () => {
  const deliveries = [
    ['/webhooks?token=1'],
    ['/webhooks'],
    ['/login?next=/'],
    ['/login'],
    ['/form'],
  ] as const;
  expect(warned(deliveries)).toEqual([
    'WBP_WHOLE_APP: The middleware is mounted for the whole app: it limits POST /webhooks and also POST /login. ' +
      "Mount it at the path of the webhooks, or set the option path; '/' means the whole app.",
  ]);
});

it('the warning contains no path that may be a secret', () => {
  const [message] = warned([['/bot110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'], ['/3f2b9c1d7e8a4f6b']]);
  expect(message).toContain('it limits POST /… and also POST /….');
});

it.each<[string, Parameters<typeof warned>]>([
  ['at one path', [[['/hooks/1'], ['/hooks/2?a'], ['http://shop.example/hooks']]]],
  [
    'at paths of known senders',
    [
      [
        ['/stripe', STRIPE],
        ['/other', STRIPE],
      ],
    ],
  ],
  ['at the path of the option', [[['/webhooks'], ['/login']], { path: '/' }]],
  ['at the paths that skip leaves', [[['/webhooks'], ['/login']], { skip: () => false }]],
  ['at a path of the framework', [[['/webhooks'], ['/login']], {}, false]],
  ['without a readable path', [[['*'], ['/login']]]],
])('a middleware that receives deliveries %s does not', (_, given) => {
  expect(warned(...given)).toEqual([]);
});

it.each([[[['/stripe', STRIPE], ['/login']]], [[['/login'], ['/stripe', STRIPE]]]] as const)(
  'a known sender at the other path does not hide it (%#)',
  (deliveries) => {
    expect(warned(deliveries)).toHaveLength(1);
  },
);
