import { getEventListeners } from 'node:events';
import { Service } from '@actlog/adapter-suite';
import type { HookCallback, Options } from '@anthropic-ai/claude-agent-sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DrivenCall, HookDriver } from '../tests/hook-driver.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('Bash', 'No shell.');
  await service.holdTool('Write');
});
afterAll(() => service.close());

const read = { name: 'Read', input: { file_path: 'a' }, id: 'toolu_1' };
const write = { name: 'Write', input: { file_path: 'a' }, id: 'toolu_2' };
const bash = { name: 'Bash', input: { command: 'ls' }, id: 'toolu_3' };

/** Returns the recorded events of a session. */
async function recorded({ sessionId }: HookDriver) {
  const events = await service.events(sessionId);
  return events.map(({ agentId, toolName, status }) => `${agentId} ${toolName} ${status}`);
}

test("leaves an allowed call to the user's permissions", async () => {
  const driver = new HookDriver(actlog({}, { recorder: service.guarded() }));
  expect(await driver.before(read)).toEqual({});
  expect(await driver.succeeded(read, 'text')).toEqual({});
  expect(await driver.batch({ ...read, response: 'text' })).toEqual({});
  expect(await recorded(driver)).toEqual(['tester Read 200']);
});

test('returns the reason of a denial, and records one event at the end of the turn', async () => {
  const driver = new HookDriver(actlog({}, { recorder: service.guarded() }));
  expect(await driver.before(bash)).toEqual({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringMatching(/^The call of the tool "Bash" .*No shell\./),
    },
  });
  await driver.batch({ ...bash, response: 'PreToolUse:Bash hook error: …' });
  expect(await recorded(driver)).toEqual(['tester Bash 403']);
});

test.each(['the signal of the hook', 'the abortController of the query'])(
  'does not run a held call that %s ends',
  async (which) => {
    const hook = new AbortController();
    const abortController = new AbortController();
    const driver = new HookDriver(actlog({ abortController }, { recorder: service.guarded() }));
    const answer = driver.before(write, hook.signal);
    await service.held(driver.sessionId);
    (which === 'the signal of the hook' ? hook : abortController).abort();
    expect(await answer).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
    expect(await recorded(driver)).toEqual(['tester Write 499']);
  },
);

test("listens to the query's signal only while a call is running", async () => {
  const abortController = new AbortController();
  const listeners = () => getEventListeners(abortController.signal, 'abort').length;
  const driver = new HookDriver(actlog({ abortController }, { recorder: service.recorder() }));
  const other = { ...read, id: 'toolu_4' };
  expect(listeners()).toBe(0);
  await driver.before(read);
  await driver.before(other);
  expect(listeners()).toBe(1);
  await driver.succeeded(read, 'text');
  expect(listeners()).toBe(1);
  await driver.succeeded(other, 'text');
  expect(listeners()).toBe(0);
});

test('records running calls as aborted, once, when the query is aborted', async () => {
  const abortController = new AbortController();
  const driver = new HookDriver(actlog({ abortController }, { recorder: service.recorder() }));
  await driver.before(read);
  abortController.abort();
  await driver.failed(read, 'Interrupted by user', true);
  await driver.batch({ ...read, response: 'Interrupted by user' });
  expect(await recorded(driver)).toEqual(['tester Read 499']);
});

test('records interrupted calls at the next prompt, and at the end of a subagent', async () => {
  const driver = new HookDriver(actlog({}, { recorder: service.recorder() }));
  const subagent = driver.subagent('a1');
  const other = driver.subagent('a2');
  await driver.before(read);
  await subagent.before(write);
  await other.before(bash);
  await driver.prompted();
  expect(await recorded(driver)).toEqual(['tester Read 499']);
  await subagent.stopped();
  expect(await recorded(driver)).toEqual(['tester Read 499', 'tester Write 499']);
  await other.succeeded(bash, {});
  expect((await recorded(driver)).at(-1)).toBe('tester Bash 200');
});

test('names the subagent of a call beside the agent, and shows it to policies', async () => {
  const driver = new HookDriver(actlog({}, { recorder: service.guarded() }));
  const subagent = driver.subagent('a1');
  await driver.before(read);
  await driver.succeeded(read, 'done');
  const glob = { name: 'Glob', input: {}, id: 'toolu_6' };
  await subagent.before(glob);
  await subagent.succeeded(glob, 'done');
  const condition = 'subagent == "explorer"';
  const { id } = await service.client.policies.create({ name: 'no exploring', effect: 'deny', condition });
  const denied = await subagent.before({ ...glob, id: 'toolu_7' });
  const allowed = await driver.before({ ...glob, id: 'toolu_8' });
  await service.client.policies.archive(id);
  expect(denied).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
  expect(allowed).toEqual({});
  expect((await recorded(driver)).slice(0, 3)).toEqual([
    'tester Read 200',
    'tester Glob 200',
    'tester Glob 403',
  ]);
  expect(await service.innerCalls(driver.sessionId)).toEqual([
    'tester · explorer: Glob',
    'tester · explorer: Glob',
  ]);
});

test('records calls denied after the guard, and calls without a start hook, at the end of the turn', async () => {
  const driver = new HookDriver(actlog({}, { recorder: service.recorder(), exclude: ['Glob'] }));
  await driver.before(read);
  await driver.batch(
    { ...read, response: "You haven't granted it yet." },
    { ...write, response: '<tool_use_error>File has not been read yet.</tool_use_error>' },
    { ...bash, response: '<tool_use_error>Error: No such tool available: Bash</tool_use_error>' },
    { ...bash, id: 'toolu_5', response: 'fine' },
    { name: 'Glob', input: {}, id: 'toolu_6', response: 'left out' },
  );
  expect(await recorded(driver)).toEqual([
    'tester Read 403',
    'tester Write 400',
    'tester Bash 404',
    'tester Bash 200',
  ]);
});

test('maps the codes of MCP errors', async () => {
  const driver = new HookDriver(actlog({}, { recorder: service.recorder() }));
  const errors = [
    'MCP error -32602: Invalid',
    'MCP error -32601: None',
    'MCP error -32001: Slow',
    'MCP error -32602: Invalid tools/call result: []',
    'MCP error -32602: Output validation error: Tool a has an output schema but no structured content was provided',
    'It broke',
  ];
  for (const [place, error] of errors.entries()) {
    const call = { ...read, id: `toolu_${place}` };
    await driver.before(call);
    await driver.failed(call, error);
  }
  expect(await recorded(driver)).toEqual(
    [400, 404, 408, 500, 500, 500].map((status) => `tester Read ${status}`),
  );
});

test('counts calls with the same id in two subagents separately', async () => {
  const main = new HookDriver(actlog({}, { recorder: service.guarded() }));
  const [one, other] = [main.subagent('agent_1'), main.subagent('agent_2')];
  const numbered = (call: DrivenCall) => ({ ...call, id: 'call_0' });
  await one.before(numbered(bash));
  await other.before(numbered(read));
  await one.batch({ ...numbered(bash), response: 'PreToolUse:Bash hook error: …' });
  await other.succeeded(numbered(read), 'text');
  await other.batch({ ...numbered(read), response: 'text' });
  expect((await recorded(main)).sort()).toEqual(['tester Bash 403', 'tester Read 200']);
});

test('records a call allowed by another process when it ends', async () => {
  const driver = new HookDriver(actlog({}, { recorder: service.recorder() }));
  await driver.succeeded(read, 'text');
  await driver.batch({ ...read, response: 'text' });
  expect(await recorded(driver)).toEqual(['tester Read 200']);
});

test('keeps calls of several queries with the same options apart', async () => {
  const options = actlog({}, { recorder: service.recorder() });
  const [one, other] = [new HookDriver(options), new HookDriver(options)];
  await one.before(read);
  await other.before(read);
  await one.succeeded(read, 'text');
  await other.failed(read, 'It broke');
  expect(await recorded(one)).toEqual(['tester Read 200']);
  expect(await recorded(other)).toEqual(['tester Read 500']);
});

test("keeps the user's options and hooks unchanged", async () => {
  const own: HookCallback = async () => ({});
  const given: Options = {
    model: 'm',
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [own] }], Stop: [{ hooks: [own] }] },
  };
  const copy = structuredClone({ ...given, hooks: undefined });
  const recorder = service.recorder();
  const options = actlog(given, { recorder });
  expect({ ...given, hooks: undefined }).toEqual(copy);
  expect(given.hooks?.PreToolUse).toHaveLength(1);
  expect(options).toMatchObject({ model: 'm' });
  expect(options.hooks?.PreToolUse?.[0]).toBe(given.hooks?.PreToolUse?.[0]);
  expect(options.hooks?.Stop).toEqual(given.hooks?.Stop);
  // A failing hook must not allow a call, and a person may take long.
  expect(options.hooks?.PreToolUse?.[1]).toMatchObject({ onFailure: 'block', timeout: 604_800 });
  expect(actlog(options, { recorder })).toBe(options);
  expect(actlog(options, { recorder: service.recorder() }).hooks?.PreToolUse).toHaveLength(3);
});
