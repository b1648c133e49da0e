import { Agent, request } from 'node:http';
import type { Ref } from './handler-log.ts';

/** Tells the handler what to do. */
export interface Wish {
  readonly tookMs?: number;
  readonly does?: 'hang' | 'kill';
}

/** Sends deliveries and retries until they are acknowledged. */
export class Sender {
  readonly acknowledged = new Set<string>();
  /** The deliveries that were acknowledged. */
  get refs(): Ref[] {
    return Array.from(this.acknowledged, (id) => ({ key: 'default', id }));
  }
  /** Requests that ended without an answer, or were refused. */
  failures = 0;
  readonly #agent = new Agent({ keepAlive: true });
  /** Called at each acknowledgement. */
  onAcknowledged: () => void = () => undefined;

  /** Sends a delivery once. Returns whether it was acknowledged. */
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

  /** Drops the connections to a receiver that has died. */
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
          // Only a complete answer counts.
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
