import { expect, test } from 'vitest';
import { findAmbiguity, parseMessage } from './json-rpc.ts';

function problemOf(text: string): string | undefined {
  return findAmbiguity(Buffer.from(text), text, parseMessage(text));
}

const call = (more: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{}}${more}}`;

test.each(['Method', 'METHOD', 'param\u017F', 'PARAM\u017F', '\u0130d', '\u0131d', 'I\u0064'])(
  'refuses the member %s, which some parsers take for a member of the message',
  (name) => {
    expect(problemOf(call(`,"${name}":{}`))).toBe(`has the member ${JSON.stringify(name)} in another case`);
    expect(problemOf(`[${call(`,"${name}":{}`)}]`)).toBeDefined();
  },
);

test.each(['Name', 'ARGUMENT\u017F', 'argument\u017F'])('refuses the parameter %s', (name) => {
  const text = `{"id":1,"method":"tools/call","params":{"name":"read","arguments":{},"${name}":{}}}`;
  expect(problemOf(text)).toBe(`has the member ${JSON.stringify(name)} in another case`);
});

test.each([
  ['{"path":"a","Path":"b"}', '"Path"'],
  ['{"task":1,"tas\u212A":2}', '"tas\u212A"'],
])('refuses arguments that differ only in case: %s', (args, name) => {
  const text = `{"id":1,"method":"tools/call","params":{"name":"read","arguments":${args}}}`;
  expect(problemOf(text)).toBe(`has the argument ${name} twice, in another case`);
});

test('names the member that is there twice, at any depth', () => {
  const text = '{"id":1,"method":"tools/call","params":{"name":"read","arguments":{"a":{"to":1,"to":2}}}}';
  expect(problemOf(text)).toBe('has the member "to" twice');
});

test.each([
  call(''),
  call(',"parameters":{},"methods":1'),
  '{"id":1,"method":"tools/call","params":{"name":"set","arguments":{"ids":{"a":1,"A":2},"ad":1917043659912705297}}}',
  '{"id": 1.0, "method": "ping"}',
])('accepts %s', (text) => {
  expect(problemOf(text)).toBeUndefined();
});
