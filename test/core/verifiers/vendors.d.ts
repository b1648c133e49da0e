/* The parts of vendors' packages without types that the tests use. */

declare module 'braintree' {
  export interface BraintreeGateway {
    readonly webhookNotification: {
      validateSignature(signature: string, payload: string): Error | null;
    };
  }
  const braintree: {
    readonly BraintreeGateway: new (options: object) => BraintreeGateway;
    readonly Environment: { readonly Sandbox: object };
  };
  export default braintree;
}

declare module '@sendgrid/eventwebhook' {
  export class EventWebhook {
    convertPublicKeyToECDSA(publicKey: string): object;
    verifySignature(publicKey: object, payload: string, signature: string, timestamp: string): boolean;
  }
}

declare module 'sns-validator' {
  export default class MessageValidator {
    validate(message: object, callback: (error: Error | null, message?: object) => void): void;
  }
}
