// @ts-check
/* eslint-disable @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-call, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-argument -- the example is loaded by a computed path, so its types are unknown */
// The application of examples/nestjs with a small queue and handlers that misbehave. It is copied beside the compiled
// example, so that it loads the same version of Nest. Decorators are applied by hand: JavaScript has none.
import {
  Controller,
  Get,
  HttpException,
  Module,
  Post,
  Req,
  Res,
  RequestTimeoutException,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createIntake } from '@webhook-backpressure/core';
import { catchError, from, throwError, timeout } from 'rxjs';

const INTERCEPTED_MS = 50;
const platform = process.argv[2];
const isOnFastify = platform === 'fastify';
const { AppModule } = await load('app.module.js');
const { INTAKE, IntakeModule } = await load('intake.module.js');
const { mountWebhooks } = await load(`${String(platform)}/mount-webhooks.js`);
/** @type {(() => void)[]} */
const held = [];

/** Prints one line that the test awaits. @param {...unknown} words */
function say(...words) {
  console.log(words.join(' '));
}

class HandlersController {
  /** Works until the test releases it. */
  async hold() {
    say('holding');
    await hold();
    say('done');
    return 'held';
  }

  /** Continues when the interceptor has responded. @param {{ backpressure: import('@webhook-backpressure/core').BackpressureInfo }} request */
  late(request) {
    const work = hold().then(() => {
      say('late work done');
    });
    request.backpressure.waitUntil(work);
    return work;
  }

  fail() {
    throw new HttpException('teapot', 418);
  }

  /** Responds itself. @param {any} response */
  own(response) {
    if (isOnFastify) response.code(202).send('own');
    else response.status(202).send('own');
  }

  release() {
    const count = held.length;
    for (const resolve of held.splice(0)) resolve();
    return count;
  }
}

/** @returns {Promise<void>} */
function hold() {
  return new Promise((resolve) => {
    held.push(resolve);
  });
}

/** A file of the example. @param {string} path @returns {Promise<any>} */
function load(path) {
  return import(`./${path}`);
}

/** @param {string} name @param {MethodDecorator} method @param {ParameterDecorator} [parameter] */
function route(name, method, parameter) {
  const { prototype } = HandlersController;
  const descriptor = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(prototype, name));
  method(prototype, name, descriptor);
  parameter?.(prototype, name, 0);
}
route('hold', Post('webhooks/hold'));
route('late', Post('webhooks/late'), Req());
route('fail', Post('webhooks/fail'));
route('own', Post('webhooks/own'), Res());
route('release', Get('release'));
Controller()(HandlersController);

/** A provider of the kind that a queued delivery needs: it must outlive the queue. */
class Database {
  onApplicationShutdown() {
    say('database closed');
  }
}

class TestModule {}
Module({ imports: [AppModule], controllers: [HandlersController], providers: [Database] })(TestModule);
// The same provider with a small queue: one delivery runs, and one waits.
Reflect.defineMetadata(
  'providers',
  [{ provide: INTAKE, useFactory: () => createIntake({ concurrency: 1, capacity: 1, highWaterMark: 1 }) }],
  IntakeModule,
);

const options = { rawBody: true, logger: /** @type {false} */ (false) };
const app = isOnFastify
  ? await NestFactory.create(
      TestModule,
      new (await import('@nestjs/platform-fastify')).FastifyAdapter(),
      options,
    )
  : await NestFactory.create(TestModule, options);
await mountWebhooks(/** @type {any} */ (app));
app.get(INTAKE).subscribe((/** @type {{ type: string }} */ { type }) => {
  if (type === 'queued') say('queued');
});
app.useGlobalFilters({
  catch(error, host) {
    const response = host.switchToHttp().getResponse();
    const status = error instanceof HttpException ? error.getStatus() : 500;
    say('filter', status);
    if (isOnFastify) response.code(status).send('filtered');
    else response.status(status).send('filtered');
  },
});
app.useGlobalInterceptors({
  intercept(context, next) {
    const { url } = context.switchToHttp().getRequest();
    if (url !== '/webhooks/late') return next.handle();
    return from(next.handle()).pipe(
      timeout(INTERCEPTED_MS),
      catchError(() => throwError(() => new RequestTimeoutException())),
    );
  },
});
// Before Nest's own listener.
process.once('SIGTERM', () => setImmediate(say, 'closing'));
app.enableShutdownHooks();
await app.listen(0, '127.0.0.1');
say(await app.getUrl());
