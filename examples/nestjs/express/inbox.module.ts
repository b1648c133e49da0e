// inbox.module.ts
import { Inject, Injectable, Module, type OnModuleDestroy } from '@nestjs/common';
import { verifiers, webhookInbox } from '@webhook-backpressure/express/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';

export const INBOX = Symbol('inbox');
export type WebhookInbox = ReturnType<typeof webhookInbox>;
const { DATABASE = './webhooks.db', WEBHOOK_SECRET } = process.env;

@Injectable()
export class OrdersService {
  handle(event: unknown): void {
    console.log('handled', JSON.stringify(event)); // your work
  }
}

function createInbox(orders: OrdersService): WebhookInbox {
  return webhookInbox({
    store: sqliteStore({ path: DATABASE }),
    // `false` accepts deliveries from anyone.
    verify: WEBHOOK_SECRET === undefined ? false : verifiers.standardWebhooks({ secret: WEBHOOK_SECRET }),
    process: (delivery) => {
      orders.handle(delivery.json());
    },
  });
}

@Module({
  providers: [OrdersService, { provide: INBOX, inject: [OrdersService], useFactory: createInbox }],
  exports: [INBOX],
})
export class InboxModule implements OnModuleDestroy {
  constructor(@Inject(INBOX) private readonly webhooks: WebhookInbox) {}

  async onModuleDestroy(): Promise<void> {
    await this.webhooks.inbox.close({ timeoutMs: 10_000 });
  }
}
