import { Agent, request } from 'node:http';

/** What a delivery asks the handler to do. */
export interface Wish {
  readonly tookMs?: number;
  readonly does?: 'hang' | 'kill';
}

/** Sends deliveries, and again until they are acknowledged, as senders do. */
export class Sender {
  readonly acknowledged = new Set<string>();
  /** Requests that ended without an answer, or were refused. */
  failures = 0;
  readonly #agent = new Agent({ keepAlive: true });
  /** Called at each acknowledgement. */
  onAcknowledged: () => void = () => undefined;

  /** Sends one once. Whether it was acknowledged. */
  async send(port: number, id: string, wish: Wish): Promise<boolean> {
    const status = await this.#post(port, id, JSON.stringify(wish));
    if (status === undefined || status < 200 || status > 299) {
      this.failures += 1;
      return false;
    }
    this.acknowledged.add(id);
    this.onAcknowledged();
    return true;
  }

  /** Forgets the connections to a receiver that has died. */
  hangUp(): void {
    this.#agent.destroy();
  }

  #post(port: number, id: string, body: string): Promise<number | undefined> {
    return new Promise((resolve) => {
      const headers = { 'webhook-id': id, 'content-type': 'application/json' };
      const sent = request(
        { host: '127.0.0.1', port, path: '/webhooks', method: 'POST', headers, agent: this.#agent },
        (answer) => {
          answer.resume();
          // An answer counts when it is whole.
          answer.once('end', () => {
            resolve(answer.statusCode);
          });
          answer.once('error', () => {
            resolve(undefined);
          });
          answer.once('close', () => {
            resolve(undefined);
          });
        },
      );
      sent.once('error', () => {
        resolve(undefined);
      });
      sent.end(body);
    });
  }
}
