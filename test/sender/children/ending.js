// A program that sends two events to the URL of its first argument, with room for one, and ends.
import { memoryStore } from '@webhook-backpressure/inbox';
import { createSender } from '@webhook-backpressure/sender';

const [url] = process.argv.slice(2);
if (url === undefined) throw new Error('the URL is missing');
const sender = createSender({
  store: memoryStore(),
  endpoint: () => ({ url, secret: null }),
  allowPrivateAddresses: true,
  capacity: 1,
});
await sender.send({ endpoint: 'a', type: 'test', data: 1 });
// Nothing but this call keeps the process alive.
await sender.send({ endpoint: 'a', type: 'test', data: 2 });
console.log('stored');
console.log(JSON.stringify(await sender.close({ timeoutMs: 5000 })));
