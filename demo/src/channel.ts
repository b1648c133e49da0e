import type { Message } from './messages.ts';

/** A child's end of the channel to the demo. A child that is left alone ends itself. */
export interface Channel<Orders, Reports> {
  on<Type extends keyof Orders>(type: Type, listener: (body: Orders[Type]) => void): void;
  send<Type extends keyof Reports>(type: Type, body: Reports[Type]): void;
}

export function openChannel<Orders, Reports>(): Channel<Orders, Reports> {
  process.on('disconnect', () => process.exit());
  // A terminal sends Ctrl-C to the children as well; the demo itself ends them.
  process.on('SIGINT', () => undefined);
  return {
    on(type, listener) {
      process.on('message', (message) => {
        const order = message as Message<Orders>;
        if (order.type === type) listener(order.body as Orders[typeof type]);
      });
    },
    send(type, body) {
      if (process.connected) process.send?.({ type, body });
    },
  };
}
