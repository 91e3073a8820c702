import { Service, withEnvironment } from '@actlog/adapter-suite';
import { sharedRecorder } from '@actlog/recorder';
import { LlmAgent, type LlmResponse } from '@google/adk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modelOf, runAgent } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

type Part = Record<string, unknown>;

function responseOf(parts: Part[], more: Partial<LlmResponse> = {}): LlmResponse {
  return { content: { role: 'model', parts }, ...more } as LlmResponse;
}

const code = (text: string) => ({ executableCode: { language: 'PYTHON', code: text } });
const result = (outcome: string) => ({ codeExecutionResult: { outcome, output: '' } });

async function record(sessionId: string, response: LlmResponse) {
  const adapter = { recorder: service.recorder() };
  const agent = new LlmAgent({ name: 'tester', model: modelOf([response]) });
  await runAgent(agent, { sessionId, plugins: [actlog(adapter), actlog(adapter)] });
  return (await service.events(sessionId)).map(({ toolName, status }) => `${toolName} ${status}`);
}

test('records provider code execution once, with its outcome', async () => {
  const parts = [code('1'), result('OUTCOME_OK'), code('2'), result('OUTCOME_FAILED')];
  const slow = [code('3'), result('OUTCOME_DEADLINE_EXCEEDED')];
  expect(await record('code', responseOf([{ text: 'let me see' }, ...parts, ...slow]))).toEqual([
    'code_execution 200',
    'code_execution 500',
    'code_execution 408',
  ]);
  const events = await service.storedEvents('code');
  expect(new Set(events.map(({ payload }) => payload?.argumentsHash)).size).toBe(3);
});

test('records a search that grounds a response', async () => {
  const groundingMetadata = { webSearchQueries: ['weather in Bern'] };
  expect(await record('search', responseOf([{ text: 'sunny' }], { groundingMetadata }))).toEqual([
    'google_search 200',
  ]);
});

test('does not record partial stream responses', async () => {
  const partial = responseOf([code('1'), result('OUTCOME_OK')], { partial: true });
  expect(await record('partial', partial)).toEqual([]);
});

test('records the call of an unknown tool once', async () => {
  const adapter = { recorder: service.recorder() };
  const agent = new LlmAgent({ name: 'tester', model: modelOf([[{ name: 'nowhere', args: {} }]]) });
  const plugins = [actlog(adapter), actlog(adapter)];
  await runAgent(agent, { sessionId: 'unknown', plugins }).catch(() => {});
  expect(await service.events('unknown')).toMatchObject([{ toolName: 'nowhere', status: 404 }]);
});

test('treats an explicit and an implicit shared recorder as one', async () => {
  await withEnvironment(service, async () => {
    const recorder = sharedRecorder();
    const agent = new LlmAgent({ name: 'tester', model: modelOf([[{ name: 'nowhere', args: {} }]]) });
    const plugins = [actlog(), actlog({ recorder })];
    await runAgent(agent, { sessionId: 'shared', plugins }).catch(() => {});
    await recorder.flush();
    expect(await service.events('shared')).toMatchObject([{ toolName: 'nowhere', status: 404 }]);
  });
});
