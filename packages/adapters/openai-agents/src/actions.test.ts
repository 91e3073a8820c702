import { Service } from '@actlog/adapter-suite';
import {
  Agent,
  type AgentOutputItem,
  applyPatchTool,
  type Computer,
  computerTool,
  MemorySession,
  run,
  shellTool,
} from '@openai/agents';
import { assistantMessage, ScriptedModel } from '@openai/agents/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const inSession = (sessionId: string) => ({ session: new MemorySession({ sessionId }) });

/** A shell with private fields, as users write them. */
class Shell {
  readonly #ran: string[] = [];
  get ran(): readonly string[] {
    return this.#ran;
  }
  async run({ commands }: { commands: string[] }) {
    this.#ran.push(...commands);
    if (commands.includes('crash')) throw Object.assign(new Error('it crashed'), { status: 503 });
    const isLate = commands.includes('sleep');
    const exitCode = commands.includes('false') ? 1 : 0;
    const outcome = isLate ? { type: 'timeout' as const } : { type: 'exit' as const, exitCode };
    return { output: [{ stdout: 'ran', stderr: '', outcome }] };
  }
}

const command = (text: string): AgentOutputItem => ({
  type: 'shell_call',
  callId: text,
  status: 'completed',
  action: { commands: [text] },
});

/** Returns the tool results that the model received. */
function modelTexts(result: { newItems: readonly { type: string; rawItem?: unknown }[] }): string {
  return JSON.stringify(
    result.newItems.filter(({ type }) => type === 'tool_call_output_item').map(({ rawItem }) => rawItem),
  );
}

function agentWith(own: Agent['tools'], calls: AgentOutputItem[], isGuarded = false) {
  const model = new ScriptedModel([calls, [assistantMessage('done')]]);
  const recorder = isGuarded ? service.guarded() : service.recorder();
  return actlog(new Agent({ name: 'operator', model, tools: own }), { recorder });
}

test('records commands with their outcomes', async () => {
  const shell = new Shell();
  const calls = ['ls', 'crash', 'sleep', 'false'].map(command);
  const result = await run(agentWith([shellTool({ shell })], calls), 'go', inSession('shell'));
  expect(shell.ran).toEqual(['ls', 'crash', 'sleep', 'false']);
  expect(modelTexts(result)).toContain('it crashed');
  const events = await service.events('shell');
  expect(events.map(({ status }) => status)).toEqual([200, 503, 408, 500]);
  expect(events[0]).toMatchObject({ agentId: 'operator', toolName: 'shell' });
});

test('does not run a denied command or patch, and tells the model why', async () => {
  const { policies } = service.client;
  const { id } = await policies.create({
    name: 'no',
    effect: 'deny',
    match: { tools: ['shell', 'apply_patch'] },
    message: 'Look, do not touch.',
  });
  const shell = new Shell();
  const patched: string[] = [];
  const patch = async ({ path }: { path: string }) => {
    patched.push(path);
  };
  const editor = { createFile: patch, updateFile: patch, deleteFile: patch };
  const calls: AgentOutputItem[] = [
    command('rm -rf /'),
    {
      type: 'apply_patch_call',
      callId: 'patch',
      status: 'completed',
      operation: { type: 'delete_file', path: 'keep.txt' },
    },
  ];
  const agent = agentWith([shellTool({ shell }), applyPatchTool({ editor })], calls, true);
  const result = await run(agent, 'go', inSession('denied-actions'));
  await policies.archive(id);
  expect([...shell.ran, ...patched]).toEqual([]);
  expect(modelTexts(result).match(/Look, do not touch\./g)).toHaveLength(2);
  expect(result.finalOutput).toBe('done');
  const events = (await service.events('denied-actions')).map(({ toolName, status }) => [toolName, status]);
  expect(events.sort()).toEqual([
    ['apply_patch', 403],
    ['shell', 403],
  ]);
});

test.each(['shell', 'bash'])('records a command rejected by the user as denied: %s', async (name) => {
  const shell = new Shell();
  const own = shellTool({
    name,
    shell,
    needsApproval: true,
    onApproval: async () => ({ approve: false }),
  });
  await run(agentWith([own], [command('ls')]), 'go', inSession(`rejected-${name}`));
  expect(shell.ran).toEqual([]);
  expect(await service.events(`rejected-${name}`)).toMatchObject([{ toolName: name, status: 403 }]);
});

test('records a replaced shell', async () => {
  const own = shellTool({ shell: new Shell() });
  await run(agentWith([own], [command('ls')]), 'go', inSession('shell-first'));
  own.shell = new Shell();
  await run(agentWith([own], [command('ls')]), 'go', inSession('shell-second'));
  expect(await service.events('shell-second')).toMatchObject([{ toolName: 'shell', status: 200 }]);
});

test('records computer actions', async () => {
  const done: string[] = [];
  const act = (name: string) => async () => {
    done.push(name);
  };
  const computer = {
    screenshot: async () => 'aW1hZ2U=',
    click: act('click'),
    doubleClick: act('doubleClick'),
    scroll: act('scroll'),
    wait: act('wait'),
    move: act('move'),
    keypress: act('keypress'),
    drag: act('drag'),
    type: async () => {
      throw new Error('no keyboard');
    },
  } as unknown as Computer;
  const call = (callId: string, action: object): AgentOutputItem =>
    ({ type: 'computer_call', callId, status: 'completed', action }) as AgentOutputItem;
  const calls = [
    call('1', { type: 'click', x: 1, y: 2, button: 'left' }),
    call('2', { type: 'type', text: 'x' }),
  ];
  await run(agentWith([computerTool({ computer })], calls), 'go', inSession('computer'));
  expect(done).toEqual(['click']);
  expect(await service.events('computer')).toMatchObject([
    { agentId: 'operator', toolName: 'computer', status: 200 },
    { agentId: 'operator', toolName: 'computer', status: 500 },
  ]);
});
