import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RawGateway, testServer } from './raw-gateway.ts';
import { TestService } from './service.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.close());

const big = 'ä'.repeat(5 * 1024 * 1024);

/** Messages that a parser and serializer would change, or that no version of the protocol knows. */
const odd = [
  '{"jsonrpc":"2.0","id":1.0,"method":"resources/read","params":{"uri":"a:b","n":12345678901234567890}}\n',
  '{ "jsonrpc" : "2.0" , "method" : "notifications/\\u0070rogress", "params": {"progress": 1e2} }\r\n',
  '\n',
  '{"jsonrpc":"2.0","id":"ä\\u00e4","method":"future/method","unknown":{"b":1,"a":[1.50]}}\n',
  '{"jsonrpc":"2.0","id":7,"result":{"action":"accept","content":{"name":"😀"}}}\n',
  '[{"jsonrpc":"2.0","id":8,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]\n',
  `{"jsonrpc":"2.0","id":9,"method":"logging/setLevel","params":{"level":"${big}"}}\n`,
  '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99,"reason":"unknown"}}\n',
];

test.each(['off', 'enforce'])('passes every other message byte for byte with the guard %s', async (guard) => {
  const folder = service.newFolder();
  const received = join(folder, 'received');
  const emitted = join(folder, 'emitted');
  writeFileSync(received, '');
  const notJson = guard === 'off' ? 'not JSON at all \u00e4\n' : '';
  const sent = Buffer.from(`${odd.join('')}${notJson}{"jsonrpc":"2.0","method":"notifications/partial"}`);
  const fromServer = Buffer.concat([Buffer.from(odd.join('')), Buffer.from('not JSON either\n')]);
  writeFileSync(emitted, fromServer);
  const options = ['--guard', guard, '--on-unavailable', 'deny'];
  const gateway = RawGateway.start(
    service.environment(),
    testServer('scripted-server.ts', received, emitted),
    options,
  );
  // Chunks of an odd size split characters and line endings.
  for (let start = 0; start < sent.length; start += 65_537)
    gateway.write(sent.subarray(start, start + 65_537));
  const exit = await gateway.end();
  expect(exit).toEqual({ code: 0, signal: null });
  expect(readFileSync(received).equals(sent)).toBe(true);
  expect(gateway.output.subarray(0, fromServer.length).equals(fromServer)).toBe(true);
});

test.each(['off', 'enforce'])('forwards the very line of a call with the guard %s', async (guard) => {
  const folder = service.newFolder();
  const received = join(folder, 'received');
  const options = ['--guard', guard, '--on-unavailable', 'deny', '--agent', `bytes-${guard}`];
  const gateway = RawGateway.start(
    service.environment(),
    testServer('scripted-server.ts', received),
    options,
  );
  const line =
    '{ "method":"tools/call","id":1, "jsonrpc":"2.0","params":{"arguments":{"n":1.0,"big":12345678901234567890},"name":"echo","future":[]} }\r\n';
  gateway.write(line);
  const response = await gateway.message(({ id }) => id === 1);
  expect(response.result?.isError).toBeUndefined();
  await gateway.end();
  expect(readFileSync(received, 'utf8')).toBe(line);
  const calls = await service.calls(`bytes-${guard}`, 1);
  expect(calls).toMatchObject([{ toolName: 'echo', status: 200 }]);
});

test('passes a call and a response of 10 MB', async () => {
  const gateway = RawGateway.start(service.environment(), testServer('scripted-server.ts'), [
    '--agent',
    'big',
  ]);
  gateway.call(1, 'echo', { text: big });
  const response = await gateway.message(({ id }) => id === 1);
  expect(JSON.parse(response.result?.content?.[0]?.text ?? '').text === big).toBe(true);
  await gateway.end();
  expect(await service.calls('big', 1)).toMatchObject([{ toolName: 'echo', status: 200 }]);
});
