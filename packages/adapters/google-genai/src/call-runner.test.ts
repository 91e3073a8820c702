import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withModel } from '../tests/model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

test('returns one content with the responses of all calls, and none without calls', async () => {
  const turns = [
    [
      { id: 'c1', name: 'first' },
      { name: 'second', args: { a: 1 } },
    ],
    [],
  ];
  await withModel(turns, async ({ models }) => {
    const runCalls = actlog.callRunner(
      { first: () => 'one', second: (args: object) => args },
      { recorder: service.recorder(), sessionId: 'content' },
    );
    const response = await models.generateContent({ model: 'm', contents: 'go' });
    expect(await runCalls(response)).toEqual([
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'first', response: { output: 'one' } } },
          { functionResponse: { name: 'second', response: { output: '{"a":1}' } } },
        ],
      },
    ]);
    expect(await runCalls(await models.generateContent({ model: 'm', contents: 'go' }))).toEqual([]);
  });
  const hashes = (await service.storedEvents('content')).map(({ payload }) => payload?.argumentsHash);
  expect(hashes).toEqual([await hashArguments({}), await hashArguments({ a: 1 })]);
});

test("runs the calls of a live session's message, except incomplete ones", async () => {
  const ran: unknown[] = [];
  const runCalls = actlog.callRunner((args) => ran.push(args), {
    recorder: service.recorder(),
    sessionId: 'live',
  });
  const begun = { name: 'remove_all', partialArgs: [{ jsonPath: '$.id' }], willContinue: true };
  const [content] = await runCalls({ functionCalls: [{ name: 'remove', args: { id: 1 } }, begun] });
  expect(content?.parts.map(({ functionResponse }) => functionResponse.response)).toEqual([
    { output: '1' },
    { error: 'Error: The call was truncated.' },
  ]);
  expect(ran).toEqual([{ id: 1 }]);
  expect((await service.callLines('live')).sort()).toEqual(['tester remove 200', 'tester remove_all 400']);
});

test("sees the user's text and the system instruction as origins, in every form", async () => {
  const recorder = service.recorder({ origins: true });
  const runCalls = actlog.callRunner({ pay: () => 'paid' }, { recorder, sessionId: 'origins' });
  const call = { name: 'pay', args: { to: 'DE89370400440532013000', for: 'treasury@northwind.example' } };
  await runCalls(
    { functionCalls: [call] },
    {
      contents: 'Pay 250 to DE89370400440532013000 today.',
      systemInstruction: { role: 'user', parts: [{ text: 'Payments are for treasury@northwind.example.' }] },
    },
  );
  const [reported] = await service.argumentOrigins('origins', 'pay');
  expect(reported?.origins).toEqual({ to: { from: 'user' }, for: { from: 'system' } });
});
