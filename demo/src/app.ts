import express, {
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { Webhook } from 'standardwebhooks';
import type { Ledger } from './ledger.ts';
import type { ConnectionPool } from './pool.ts';

/** The receiver that a reader might have: it verifies, stores in the database, and answers. */
export function webhookApp(
  secret: string,
  pool: ConnectionPool,
  ledger: Ledger,
  backpressure: RequestHandler | undefined,
): Express {
  const webhook = new Webhook(secret);
  const app = express();
  if (backpressure !== undefined) app.use('/webhooks', backpressure);

  // The signature is over the bytes as they were sent, so nothing may parse them before.
  app.post('/webhooks', express.raw({ type: 'application/json', limit: '1mb' }), async (req, res) => {
    ledger.accepted += 1;
    const id = req.get('webhook-id') ?? '';
    try {
      webhook.verify(req.body as Buffer, {
        'webhook-id': id,
        'webhook-timestamp': req.get('webhook-timestamp') ?? '',
        'webhook-signature': req.get('webhook-signature') ?? '',
      });
    } catch {
      res.sendStatus(401);
      return;
    }
    const connection = await pool.connect();
    try {
      await connection.query();
      ledger.stored.add(id);
    } finally {
      connection.release();
    }
    res.sendStatus(204);
  });

  // Express's own would print thousands of stacks.
  app.use((_error: unknown, _req: Request, res: Response, _next: NextFunction) => {
    ledger.failed += 1;
    res.sendStatus(500);
  });
  return app;
}
