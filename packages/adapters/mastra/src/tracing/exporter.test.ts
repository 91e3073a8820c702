import { Service } from '@actlog/adapter-suite';
import { createTool } from '@mastra/core/tools';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { agentOf, inMastra, inThread, tools, tracesInDetail } from '../../tests/agent.ts';
import { actlog } from '../index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

/** Returns the recorded events of a session, sorted by name. */
async function recorded(session: string) {
  const events = await service.events(session);
  return events.map(({ toolName, status }) => `${toolName} ${status}`).sort();
}

test('counts each call once with hooks and exporters, including denied ones', async () => {
  const { id } = await service.client.policies.create({
    name: 'no',
    effect: 'deny',
    match: { tools: ['fail'] },
  });
  const recorder = service.guarded();
  const { echo, fail } = tools();
  const twice = [{ name: 'echo', args: { text: 'a' }, id: 'same' }];
  const { agent } = agentOf({
    turns: [[...twice, { name: 'fail', args: {} }], twice, [{ name: 'echo', args: {} }]],
    tools: { echo, fail },
    hooks: actlog({ recorder, include: ['echo', 'fail'] }),
  });
  inMastra({ agent }, actlog.exporter({ recorder }), actlog.exporter({ recorder }));
  await agent.generate('go', inThread('both'));
  expect(await recorded('both')).toEqual(['echo 200', 'echo 200', 'echo 400', 'fail 403']);
  await service.client.policies.archive(id);
});

test.runIf(tracesInDetail)('records a call whose first hook was replaced once', async () => {
  const recorder = service.recorder();
  const { echo } = tools();
  const same = [{ name: 'echo', args: { text: 'a' }, id: 'same' }];
  const { agent } = agentOf({ turns: [same, same], tools: { echo }, hooks: actlog({ recorder }) });
  inMastra({ agent }, actlog.exporter({ recorder }), actlog.exporter({ recorder }));
  await agent.generate('go', { ...inThread('replaced'), hooks: { beforeToolCall: () => {} } });
  expect(await recorded('replaced')).toEqual(['echo 200', 'echo 200']);
});

test("uses the model's name of a tool in hooks and exporters", async () => {
  const recorder = service.recorder();
  const { echo } = tools();
  const turns = [[{ name: '_2_echo_', args: { text: 'a' } }]];
  for (const [session, hooks] of [
    ['named', undefined],
    ['named-twice', actlog({ recorder })],
  ] as const) {
    const { agent } = agentOf({ turns, tools: { '2 echo!': echo }, ...(hooks && { hooks }) });
    inMastra({ agent }, actlog.exporter({ recorder }));
    await agent.generate('go', inThread(session));
    expect(await recorded(session)).toEqual(['_2_echo_ 200']);
  }
});

test('counts each call once per recorder with hooks and exporters of two recorders', async () => {
  const [one, other] = [service.recorder(), service.recorder()];
  const { echo } = tools();
  const inner = actlog({ recorder: other, sessionId: 'of-the-other' });
  const hooks = actlog.around(inner, { recorder: one });
  const { agent } = agentOf({ turns: [[{ name: 'echo', args: { text: 'a' } }]], tools: { echo }, hooks });
  const exporters = [actlog.exporter({ recorder: one }), actlog.exporter({ recorder: other })];
  inMastra({ agent }, ...exporters);
  await agent.generate('go', inThread('of-one'));
  expect(await recorded('of-one')).toEqual(['echo 200']);
  expect(await recorded('of-the-other')).toEqual(['echo 200']);
});

test('records calls excluded by hooks in exporters, and all calls for another recorder', async () => {
  const { echo, fail } = tools();
  const turns = [[{ name: 'echo', args: { text: 'a' } }], [{ name: 'fail', args: {} }]];
  const recorder = service.recorder();
  const { agent } = agentOf({ turns, tools: { echo, fail }, hooks: actlog({ recorder, include: ['echo'] }) });
  const other = service.recorder();
  inMastra(
    { agent },
    actlog.exporter({ recorder }),
    actlog.exporter({ recorder: other, sessionId: 'other' }),
  );
  await agent.generate('go', inThread('left-out'));
  expect(await recorded('left-out')).toEqual(['echo 200', 'fail 500']);
  expect(await recorded('other')).toEqual(['echo 200', 'fail 500']);
});

test('records client tools as handed over', async () => {
  const choose = createTool({ id: 'choose', description: 'Asks the browser.', inputSchema: z.object({}) });
  const { agent } = agentOf({ turns: [[{ name: 'choose', args: {} }]], tools: {} });
  inMastra({ agent }, actlog.exporter({ recorder: service.recorder() }));
  await agent.generate('go', { ...inThread('client'), clientTools: { choose } });
  expect(await recorded('client')).toEqual(['choose 202']);
});

test.runIf(tracesInDetail)('records provider tools from their spans', async () => {
  const call = (name: string, isError: boolean) => ({
    name,
    args: { query: 'x' },
    providerResult: { result: { found: 1 }, isError },
  });
  const { agent } = agentOf({ turns: [[call('web_search', false), call('web_fetch', true)]] });
  inMastra({ agent }, actlog.exporter({ recorder: service.recorder(), agentId: 'providers' }));
  const stream = await agent.stream('go', inThread('provider'));
  await stream.text;
  expect(await recorded('provider')).toEqual(['web_fetch 500', 'web_search 200']);
});

test('delivers events on flush and shutdown, and leaves the recorder open', async () => {
  const recorder = service.recorder();
  const exporter = actlog.exporter({ recorder });
  const { echo } = tools();
  const { agent } = agentOf({ turns: [[{ name: 'echo', args: { text: 'a' } }]], tools: { echo } });
  inMastra({ agent }, exporter);
  await agent.generate('go', inThread('flushed'));
  await exporter.flush();
  expect(recorder.stats()).toMatchObject({ delivered: 1, pending: 0 });
  await exporter.shutdown();
  await recorder.session('flushed').toolCall({ toolName: 'later', arguments: {} }, () => 1);
  expect(await recorded('flushed')).toEqual(['echo 200', 'later 200']);
});
