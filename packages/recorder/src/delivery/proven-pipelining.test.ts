import { expect, test } from 'vitest';
import type { Answer, Transport } from './answer.ts';
import { ProvenPipelining } from './proven-pipelining.ts';

/** A transport of two halves, with a clock, and what went through which half. */
function start() {
  let nowMs = 0;
  const used: string[] = [];
  const half = (name: string): Transport & { answer: Answer; takesMs: number } => {
    const transport = {
      answer: { status: 202 } as Answer,
      takesMs: 1,
      send: (_body: string, _headers: unknown, done: (answer: Answer) => void) => {
        used.push(name);
        nowMs += transport.takesMs;
        done(transport.answer);
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
    let answers = 0;
    for (let index = 0; index < count; index += 1) transport.send('', {}, () => (answers += 1));
    expect(answers).toBe(count);
    return [...new Set(used)];
  };
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { single, pipelined, transport, used, send, pass };
}

test('requests go singly until the path has shown that it is near', () => {
  const { send } = start();
  expect(send(32)).toEqual(['single']);
  expect(send(100)).toEqual(['pipelined']);
});

test.each<[string, Answer, number]>([
  ['a far service', { status: 202 }, 26],
  ['a service that refuses', { status: 503 }, 1],
  ['no answer', {}, 1],
])('%s proves nothing', (_name, answer, takesMs) => {
  const { single, send } = start();
  send(31);
  Object.assign(single, { answer, takesMs });
  send(1);
  Object.assign(single, { answer: { status: 202 }, takesMs: 1 });
  expect(send(32)).toEqual(['single']);
  expect(send(1)).toEqual(['pipelined']);
});

test('after a pipelined request without an answer, requests go singly, for longer each time', () => {
  const { pipelined, send, pass } = start();
  send(32);
  pipelined.answer = {};
  expect(send(2)).toEqual(['pipelined', 'single']);
  pass(50_000);
  expect(send(100)).toEqual(['single']);
  pass(10_000);
  expect(send(34)).toEqual(['single', 'pipelined']);
  pass(100_000);
  expect(send(100)).toEqual(['single']);
});

test('a refusal of a pipelined request says nothing about the path', () => {
  const { pipelined, send } = start();
  send(32);
  pipelined.answer = { status: 429 };
  expect(send(10)).toEqual(['pipelined']);
});

test('giving up gives up both', () => {
  const { transport, used } = start();
  transport.abort();
  expect(used).toEqual(['abort single', 'abort pipelined']);
});
