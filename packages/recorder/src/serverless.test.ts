import { PassThrough, type Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { BackgroundFlush, flushingOnReturn } from './process-end.ts';

test('flushes again for an event recorded at the end of a flush', async () => {
  for (let turns = 0; turns < 10; turns += 1) {
    let pending = 0;
    const given: Promise<unknown>[] = [];
    const background = new BackgroundFlush(
      async () => {
        pending = 0;
      },
      (promise) => given.push(promise),
      () => {},
    );
    const record = (): void => {
      pending += 1;
      background.request();
    };
    record();
    for (let turn = 0; turn < turns; turn += 1) await undefined;
    record();
    for (let index = 0; index < given.length; index += 1) await given[index];
    expect(pending).toBe(0);
  }
});

test('shares one flush between many events', async () => {
  const given: Promise<unknown>[] = [];
  let flushes = 0;
  const background = new BackgroundFlush(
    async () => {
      flushes += 1;
    },
    (promise) => given.push(promise),
    () => {},
  );
  background.request();
  await Promise.all(given);
  expect([given.length, flushes]).toEqual([1, 1]);
});

test.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('there is no current request');
    },
  ],
  ['rejects', () => Promise.reject(new Error('there is no current request'))],
])('reports a waitUntil that %s, and calls it again for the next event', async (_name, waitUntil) => {
  let flushes = 0;
  const told: unknown[] = [];
  const background = new BackgroundFlush(
    async () => {
      flushes += 1;
    },
    waitUntil,
    ({ cause }) => told.push((cause as Error).message),
  );
  for (let turn = 0; turn < 2; turn += 1) {
    background.request();
    await nextTurn();
  }
  expect([flushes, ...told]).toEqual([2, 'there is no current request', 'there is no current request']);
});

/** Counts events, and those that were flushed. */
function counts() {
  const seen = { recorded: 0, flushed: 0 };
  const flush = async () => {
    await nextTurn();
    seen.flushed = seen.recorded;
  };
  return { seen, flush };
}

/** A stream during which a tool runs. */
function recordingStream(seen: { recorded: number }): ReadableStream<Uint8Array> {
  let count = 0;
  return new ReadableStream({
    async pull(controller) {
      await nextTurn();
      seen.recorded += 1;
      count += 1;
      if (count === 3) controller.close();
      else controller.enqueue(new TextEncoder().encode(`part ${count};`));
    },
  });
}

test('flushes what was recorded while a response is streamed, before its end', async () => {
  class FrameworkResponse extends Response {}
  const { seen, flush } = counts();
  const init = { status: 201, headers: { 'x-chat': '7' } };
  const handler = flushingOnReturn(async () => new FrameworkResponse(recordingStream(seen), init), flush);
  const response = await handler();
  expect([response.status, response.headers.get('x-chat')]).toEqual([201, '7']);
  expect(response).toBeInstanceOf(FrameworkResponse);
  expect(await response.text()).toBe('part 1;part 2;');
  expect(seen).toEqual({ recorded: 3, flushed: 3 });
});

test.each<[string, (stream: ReadableStream) => Promise<unknown>]>([
  ['cancelled', (stream) => stream.cancel()],
  ['read to its end', (stream) => text(stream)],
])('flushes when a returned stream is %s', async (_name, consume) => {
  const { seen, flush } = counts();
  const stream = await flushingOnReturn(() => recordingStream(seen), flush)();
  seen.recorded += 1;
  await consume(stream);
  expect(seen.flushed).toBe(seen.recorded);
});

test('passes on the error of a stream, after a flush', async () => {
  const { seen, flush } = counts();
  const broken = new ReadableStream({
    pull(controller) {
      seen.recorded += 1;
      controller.error(new Error('broken'));
    },
  });
  const response = await flushingOnReturn(async () => new Response(broken), flush)();
  await expect(response.text()).rejects.toThrow('broken');
  expect(seen).toEqual({ recorded: 1, flushed: 1 });
});

test('returns a response without a stream unchanged', async () => {
  const { flush } = counts();
  for (const response of [new Response(null, { status: 204 }), Response.redirect('http://127.0.0.1/')]) {
    expect(await flushingOnReturn(() => response, flush)()).toBe(response);
  }
});

test('keeps the mark of a streaming Lambda function, and waits for its stream', async () => {
  const { seen, flush } = counts();
  const mark = Symbol.for('aws.lambda.runtime.handler.streaming');
  const streamed = async (_event: object, stream: Writable) => {
    setImmediate(() => {
      seen.recorded += 1;
      stream.end('done');
    });
  };
  const handler = flushingOnReturn(Object.assign(streamed, { [mark]: 'response' }), flush);
  expect(handler).toMatchObject({ [mark]: 'response' });
  const stream = new PassThrough();
  stream.resume();
  await handler({}, stream);
  expect(seen).toEqual({ recorded: 1, flushed: 1 });
});
