import { expect, test } from 'vitest';
import { ProvenPipelining } from './event-pool.ts';
import type { SendResult, Transport } from './send-result.ts';

/** Creates a transport with two parts and a clock, and notes which part each event uses. */
function start() {
  let nowMs = 0;
  const used: string[] = [];
  const half = (name: string): Transport & { result: SendResult; takesMs: number } => {
    const transport = {
      result: { status: 202 } as SendResult,
      takesMs: 1,
      send: (_body: string, _headers: unknown, done: (result: SendResult) => void) => {
        used.push(name);
        nowMs += transport.takesMs;
        done(transport.result);
      },
      abort: () => used.push(`abort ${name}`),
    };
    return transport;
  };
  const single = half('single');
  const pipelined = half('pipelined');
  const transport = new ProvenPipelining({ single, pipelined, now: () => nowMs });
  const send = (count: number): string[] => {
    used.length = 0;
    let responses = 0;
    for (let index = 0; index < count; index += 1) transport.send('', {}, () => (responses += 1));
    expect(responses).toBe(count);
    return [...new Set(used)];
  };
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { single, pipelined, transport, used, send, pass };
}

test('sends single requests until the path has proved to be near', () => {
  const { send } = start();
  expect(send(32)).toEqual(['single']);
  expect(send(100)).toEqual(['pipelined']);
});

test.each<[string, SendResult, number]>([
  ['a far service', { status: 202 }, 26],
  ['a service that refuses', { status: 503 }, 1],
  ['no result', {}, 1],
])('does not count %s', (_name, result, takesMs) => {
  const { single, send } = start();
  send(31);
  Object.assign(single, { result: result, takesMs });
  send(1);
  Object.assign(single, { result: { status: 202 }, takesMs: 1 });
  expect(send(32)).toEqual(['single']);
  expect(send(1)).toEqual(['pipelined']);
});

test('sends single requests after a pipelined one without a response, longer each time', () => {
  const { pipelined, send, pass } = start();
  send(32);
  pipelined.result = {};
  expect(send(2)).toEqual(['pipelined', 'single']);
  pass(50_000);
  expect(send(100)).toEqual(['single']);
  pass(10_000);
  expect(send(34)).toEqual(['single', 'pipelined']);
  pass(100_000);
  expect(send(100)).toEqual(['single']);
});

test('ignores an error response to a pipelined request', () => {
  const { pipelined, send } = start();
  send(32);
  pipelined.result = { status: 429 };
  expect(send(10)).toEqual(['pipelined']);
});

test('aborts both parts', () => {
  const { transport, used } = start();
  transport.abort();
  expect(used).toEqual(['abort single', 'abort pipelined']);
});
