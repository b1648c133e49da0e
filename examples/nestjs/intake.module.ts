// intake.module.ts
import { Inject, Module, type OnModuleDestroy } from '@nestjs/common';
import { createIntake, type Intake } from '@webhook-backpressure/express'; // or fastify

export const INTAKE = Symbol('intake');

@Module({
  providers: [{ provide: INTAKE, useFactory: () => createIntake({ concurrency: 10 }) }],
  exports: [INTAKE],
})
export class IntakeModule implements OnModuleDestroy {
  constructor(@Inject(INTAKE) private readonly intake: Intake) {}

  // The first step of Nest's shutdown: new deliveries get 503, and queued ones are handled.
  async onModuleDestroy(): Promise<void> {
    await this.intake.close({ timeoutMs: 10_000 });
  }
}
