import { Actlog } from '@actlog/client';
import { ActionDeniedError, Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { RawGateway, testServer } from '../../gateway/tests/raw-gateway.ts';
import { agentEvents, newCall } from '../../hook/tests/agent-events.ts';
import { delivered, runHook } from '../../hook/tests/hook-process.ts';
import { spanJson, toolSpanJson, traceRequest } from '../../server/tests/otlp/trace-request.ts';
import { temporaryFolder } from './temporary-folder.ts';

const server = await startServer({ database: ':memory:', port: 0, docs: false });
afterAll(() => server.close());

const admin = new Actlog({ baseURL: server.url, apiKey: server.apiKey });

/** Key of the agents. Several share it, so that only the revocation of an agent above stops an inner one. */
const { apiKey: sharedKey } = await server.admin.keys.create('default', {
  name: 'shared',
  scopes: ['ingest'],
  shared: true,
});

/** Returns the environment of a program of an agent. */
function environment(): Record<string, string> {
  const home = temporaryFolder();
  return {
    PATH: String(process.env.PATH),
    HOME: home,
    ACTLOG_BASE_URL: server.url,
    ACTLOG_API_KEY: sharedKey,
    ACTLOG_SPOOL_DIR: `${home}/spool`,
    ACTLOG_PINS_DIR: `${home}/pins`,
  };
}

async function revoke(id: string): Promise<void> {
  // It may have been created by its first call.
  await admin.agents.create({ id, name: id }).catch(() => {});
  await admin.agents.update(id, { status: 'revoked' });
}

const enforce = ['--guard', 'enforce', '--on-unavailable', 'deny'];

/** A call of an agent inside another, which a door passes to the service. */
interface NestedCall {
  /** Outer agent. */
  readonly root: string;
  /** Called when the outer agent runs, before its inner agent calls a tool. */
  readonly between: () => Promise<unknown>;
}

/** Makes the calls `outer` of the outer agent and `echo` of the inner one; returns `true` if `echo` was denied. */
type Door = (call: NestedCall) => Promise<boolean>;

function recorderOf(options: ConstructorParameters<typeof Recorder>[0] = {}): Recorder {
  const { ACTLOG_SPOOL_DIR: spoolDir } = environment();
  const recorder = new Recorder({ apiKey: sharedKey, baseURL: server.url, spoolDir, ...options });
  onTestFinished(async () => {
    await recorder.close();
  });
  return recorder;
}

/** Returns `true` if a call was denied. */
async function isDenied(call: PromiseLike<unknown>): Promise<boolean> {
  try {
    await call;
    return false;
  } catch (error) {
    if (ActionDeniedError.isInstance(error)) return true;
    throw error;
  }
}

function hookDoor(agent: 'claude-code' | 'codex' | 'copilot', subagent: object): Door {
  const events = agentEvents.find((one) => one.agent === agent);
  if (!events) throw new Error(`No events of ${agent} are known.`);
  return async ({ root, between }) => {
    const env = environment();
    const args = [agent, ...enforce, '--agent-id', root];
    const outer = newCall();
    const before = events.argsFor('before');
    await runHook([...args, ...before], events.before(outer), env);
    await between();
    const inner = newCall({ sessionId: outer.sessionId });
    const { output, exitCode } = await runHook(
      [...args, ...before],
      { ...events.before(inner), ...subagent },
      env,
    );
    await delivered();
    return exitCode === 2 || JSON.stringify(output ?? {}).includes('"deny"');
  };
}

const doors: Readonly<Record<string, Door>> = {
  'POST /v1/policies/check': async ({ root, between }) => {
    const client = new Actlog({ baseURL: server.url, apiKey: sharedKey });
    const check = (agentId: string, toolName: string, parentAgentIds: string[]) =>
      client.policies.check({ agentId, parentAgentIds, action: { toolName, argumentsHash: 'sha256:aa' } });
    await check(root, 'outer', []);
    await between();
    return (await check(`${root}-inner`, 'echo', [root])).decision === 'deny';
  },
  'the recorder, with an agent in the call of another': async ({ root, between }) => {
    const recorder = recorderOf({ guard: { mode: 'enforce', onUnavailable: 'deny' } });
    const inner = { toolName: 'echo', arguments: {}, agentId: `${root}-inner` };
    return recorder.toolCall({ toolName: 'outer', arguments: {}, agentId: root }, async () => {
      await between();
      return isDenied(recorder.toolCall(inner, () => 'done'));
    });
  },
  'the recorder, with the agents that an adapter names': async ({ root, between }) => {
    const recorder = recorderOf({ guard: { mode: 'enforce', onUnavailable: 'deny' } });
    const inner = { toolName: 'echo', arguments: {}, agentId: `${root}-inner`, parentAgentIds: [root] };
    await recorder.toolCall({ toolName: 'outer', arguments: {}, agentId: root }, () => 'done');
    await between();
    return isDenied(recorder.toolCall(inner, () => 'done'));
  },
  'the hook of Claude Code': hookDoor('claude-code', { agent_id: 'sub-1', agent_type: 'reviewer' }),
  'the hook of Codex': hookDoor('codex', { agent_id: 'sub-1', agent_type: 'reviewer' }),
  'the gateway, from a client that records': async ({ root, between }) => {
    const recorder = recorderOf();
    const gateway = RawGateway.start(environment(), testServer('scripted-server.ts'), enforce);
    onTestFinished(async () => {
      await gateway.end();
    });
    await gateway.initialize('client');
    const { sharedCalls } = recorder.forAdapter({ framework: 'mcp', sdk: 'tests' });
    const inner = { toolName: 'echo', arguments: {}, agentId: `${root}-inner` };
    return recorder.toolCall({ toolName: 'outer', arguments: {}, agentId: root }, async () => {
      await between();
      return recorder.toolCall(inner, async () => {
        gateway.call(1, 'echo', {}, { _meta: { 'actlog/call': [sharedCalls?.announce()] } });
        const { result } = await gateway.message(({ id }) => id === 1);
        return result?.isError === true;
      });
    });
  },
};

test.each(Object.entries(doors))('%s: a policy reads the agent above, and denies', async (name, door) => {
  const root = `policy-${Object.keys(doors).indexOf(name)}`;
  let archive = async (): Promise<unknown> => undefined;
  // A subagent of a coding agent is a fact beside the id of its agent.
  const condition = `parentAgentId == "${root}" || (agent.id == "${root}" && subagent == "reviewer")`;
  const between = async () => {
    const { id } = await admin.policies.create({ name: 'inside', effect: 'deny', condition });
    archive = () => admin.policies.archive(id);
  };
  expect(await door({ root, between })).toBe(true);
  await archive();
  expect(await door({ root: `${root}-free`, between: async () => {} })).toBe(false);
});

test.each(Object.entries(doors))('%s: a revoked agent stops the agent inside it', async (name, door) => {
  const root = `revoked-${Object.keys(doors).indexOf(name)}`;
  expect(await door({ root, between: () => revoke(root) })).toBe(true);
});

test('the hook of Copilot, which names no subagents: a revoked agent stops all of its calls', async () => {
  expect(await hookDoor('copilot', {})({ root: 'copilot-1', between: () => revoke('copilot-1') })).toBe(true);
});

test('OTLP: spans keep the agents above, and the revocation of one stops the key of its inner agents', async () => {
  const { apiKey } = await server.admin.keys.create('default', { name: 'spans', scopes: ['ingest'] });
  const [traceId, outerId, middleId] = ['ab'.repeat(16), 'cd'.repeat(8), 'ef'.repeat(8)];
  const agent = (name: string, more: object) =>
    spanJson({ 'gen_ai.agent.name': name, 'gen_ai.conversation.id': 'spans' }, { traceId, ...more });
  const body = traceRequest([
    agent('span-root', { spanId: outerId }),
    agent('span-inner', { spanId: middleId, parentSpanId: outerId }),
    toolSpanJson('echo', {}, { traceId, parentSpanId: middleId }),
  ]);
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const send = () =>
    fetch(`${server.url}/otlp/v1/traces`, { method: 'POST', headers, body: JSON.stringify(body) });
  expect((await send()).status).toBe(200);
  expect((await send()).status).toBe(200);
  const events = await admin.sessions.events('spans').toArray({ limit: 10 });
  const call = events.find(({ category }) => category === 'tool_api');
  expect(events.filter(({ category }) => category === 'subagent_call')).toMatchObject([
    {
      agentId: 'span-inner',
      payload: { eventId: call?.eventId, toolName: 'echo', parentAgentIds: ['span-root'] },
    },
  ]);
  const check = () =>
    new Actlog({ baseURL: server.url, apiKey }).policies.check({
      agentId: 'other-name',
      action: { toolName: 'echo', argumentsHash: 'sha256:aa' },
    });
  expect((await check()).decision).toBe('allow');
  await revoke('span-root');
  expect((await check()).decision).toBe('deny');
});
