import { expect, test } from 'vitest';
import type { Recorder } from '../src/index.ts';
import { Sink } from './sink.ts';
import { createRecorder } from './test-recorder.ts';

const checkPath = '/v1/policies/check';
const enforce = { guard: { mode: 'enforce', onUnavailable: 'deny' } } as const;
const allowed = { status: 200, body: { decision: 'allow', decidedBy: null, matched: [] } };

/** Runs calls of agents inside each other: the first agent's call runs that of the second, and so on. */
function nested(recorder: Recorder, ...agents: readonly (string | undefined)[]): Promise<unknown> {
  const [agentId, ...inner] = agents;
  const call = { toolName: `by_${agentId}`, arguments: {}, sessionId: 's', agentId };
  return recorder.toolCall(call, () => (inner.length > 0 ? nested(recorder, ...inner) : 'done'));
}

/** Returns the checks as lines of agent, subagent and agents above. */
function checks(sink: Sink): string[] {
  return sink.requests
    .filter(({ path }) => path === checkPath)
    .map(({ body: { agentId, subagent, parentAgentIds } }) =>
      JSON.stringify([agentId, subagent ?? null, parentAgentIds ?? []]),
    );
}

test('sends the agents above with the check of an inner agent, nearest first', async () => {
  const sink = await Sink.start(({ path }) => (path === checkPath ? allowed : undefined));
  await nested(createRecorder(sink.url, enforce), 'root', 'middle', 'middle', 'inner', 'root');
  expect(checks(sink)).toEqual([
    '["root",null,[]]',
    '["middle",null,["root"]]',
    '["middle",null,["root"]]',
    '["inner",null,["middle","root"]]',
    '["root",null,["inner","middle"]]',
  ]);
});

test('adds no agent above to a call that names no agent, or that follows', async () => {
  const sink = await Sink.start(({ path }) => (path === checkPath ? allowed : undefined));
  const recorder = createRecorder(sink.url, enforce);
  await nested(recorder, 'root', undefined);
  await nested(recorder, 'next');
  expect(checks(sink)).toEqual(['["root",null,[]]', '["agent",null,[]]', '["next",null,[]]']);
});

test('takes an agent of another name but the same id for a subagent, also for the calls of its tools', async () => {
  const sink = await Sink.start(({ path }) => (path === checkPath ? allowed : undefined));
  const recorder = createRecorder(sink.url, enforce);
  const call = (agentName?: string) => ({
    toolName: `by_${agentName}`,
    arguments: {},
    sessionId: 's',
    agentId: 'support',
    agentName,
  });
  await recorder.toolCall(call('support'), () =>
    recorder.toolCall(call('reviewer'), () => recorder.toolCall(call(), () => 'done')),
  );
  expect(checks(sink)).toEqual([
    '["support",null,[]]',
    '["support","reviewer",[]]',
    '["support","reviewer",[]]',
  ]);
});

test('records the subagent and the agents above as an event about the event of the call', async () => {
  const sink = await Sink.start();
  const recorder = createRecorder(sink.url);
  await nested(recorder, 'root', 'inner');
  recorder.record({
    toolName: 'edit',
    arguments: {},
    responseStatus: 200,
    subagent: 'reviewer',
    sessionId: 's',
  });
  recorder.record({ toolName: 'read', arguments: {}, responseStatus: 200, sessionId: 's' });
  await recorder.flush();
  const idOf = (tool: string) =>
    sink.stored.find(({ category, payload }) => category === 'tool_api' && payload.toolName === tool)
      ?.eventId;
  const about = sink.stored.filter(({ category }) => category === 'subagent_call');
  expect(about.map(({ agentId, sessionId, payload }) => ({ agentId, sessionId, payload }))).toEqual([
    {
      agentId: 'inner',
      sessionId: 's',
      payload: { eventId: idOf('by_inner'), toolName: 'by_inner', parentAgentIds: ['root'] },
    },
    {
      agentId: 'agent',
      sessionId: 's',
      payload: { eventId: idOf('edit'), toolName: 'edit', subagent: 'reviewer' },
    },
  ]);
});

test('sends names that a service accepts, and at most eight agents above with the outermost', async () => {
  const sink = await Sink.start(({ path }) => (path === checkPath ? allowed : undefined));
  const parentAgentIds = Array.from({ length: 12 }, (_, number) => `a-${number}`);
  const subagent = `code\nreviewer ${'x'.repeat(300)}`;
  const call = { toolName: 'edit', arguments: {}, subagent, parentAgentIds, agentId: 'inner' };
  await createRecorder(sink.url, enforce).toolCall(call, () => 'done');
  const body = sink.requests[0]?.body as { subagent: string; parentAgentIds: string[] };
  expect(body.parentAgentIds).toEqual([...parentAgentIds.slice(0, 7), 'a-11']);
  expect(body.subagent).toMatch(/^[^\n]{1,200}$/);
});

test('goes on without these facts where a service does not take them', async () => {
  const sink = await Sink.start(({ path, body }) => {
    const isRefused = body.parentAgentIds !== undefined || body.category === 'subagent_call';
    if (isRefused) return { status: 400, body: { error: { code: 'VALIDATION_ERROR', message: 'No.' } } };
    return path === checkPath ? allowed : undefined;
  });
  const errors: string[] = [];
  const recorder = createRecorder(sink.url, { ...enforce, onError: ({ message }) => errors.push(message) });
  expect(await nested(recorder, 'root', 'inner', 'inner')).toBe('done');
  await recorder.flush();
  expect(checks(sink)).toEqual([
    '["root",null,[]]',
    '["inner",null,["root"]]',
    '["inner",null,[]]',
    '["inner",null,[]]',
  ]);
  expect(sink.stored.map(({ category }) => category)).toEqual(['tool_api', 'tool_api', 'tool_api']);
  expect(recorder.stats()).toMatchObject({ deadLettered: 0, guard: { allowed: 3, denied: 0 } });
  expect(errors.sort()).toEqual([
    expect.stringContaining('rejects events about the calls of subagents'),
    expect.stringContaining('rejects policy checks that name a subagent or the agents above'),
  ]);
});
