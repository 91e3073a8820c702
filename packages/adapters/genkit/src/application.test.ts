import { createRequire } from 'node:module';
import { dynamicTool, type GenerateResponse, generateMiddleware, genkit, z } from 'genkit';
import { expect, test } from 'vitest';
import { application, betaApplication, modelOf, toolResultsOf, tools } from '../tests/agent.ts';
import { CoveredApplication, echo, fail, passing } from '../tests/covered-application.ts';
import { actlog } from './index.ts';

const tested = new CoveredApplication();

test('returns the same instance', () => {
  expect(tested.cover()).toBe(application);
});

test.each([
  ['none', undefined, undefined],
  ['its own', [passing()], undefined],
  ['that of the call', undefined, [passing()]],
  ['that of the call instead of its own', [passing()], [passing()]],
])('records a prompt with middleware: %s', async (variant, use, useOfCall) => {
  const name = `prompt-${variant.replaceAll(' ', '-')}`;
  const own = tools();
  const model = modelOf([[echo('a'), fail]]);
  const options = { name, ...model, prompt: 'go', tools: [own.echo, own.fail] };
  const prompt = application.definePrompt({ ...options, ...(use && { use }) });
  tested.cover();
  const given = useOfCall && { use: useOfCall };
  await prompt(undefined, given);
  await application.prompt(name)(undefined, given);
  for await (const _ of prompt.stream(undefined, given).stream);
  for await (const _ of application.prompt(name).stream(undefined, given).stream);
  expect((await tested.lines()).sort()).toEqual([...Array(4).fill('echo 200'), ...Array(4).fill('fail 403')]);
  expect(own.ran).toEqual(Array(4).fill('echo a'));
});

test('records a prompt from a file', async () => {
  const filed = genkit({ promptDir: new URL('../tests/prompts', import.meta.url).pathname });
  filed.defineTool({ name: 'lookup', description: 'Looks up.' }, async () => 'found');
  filed.defineModel({ name: 'scripted', supports: { tools: true } }, async ({ messages }) => ({
    message: {
      role: 'model',
      content: messages.some(({ role }) => role === 'tool')
        ? [{ text: 'done' }]
        : [{ toolRequest: { name: 'lookup', input: {} } }],
    },
  }));
  await tested.cover(filed).prompt('from_file')();
  expect(await tested.lines()).toEqual(['lookup 200']);
});

test('records the tools of middleware, and guards them', async () => {
  const own = tools();
  const library = generateMiddleware({ name: 'library' }, () => ({ tools: [own.echo, own.fail] }));
  const response = await tested.cover().generate({
    ...modelOf([[echo('a'), fail]]),
    prompt: 'go',
    use: [library(), passing()],
  });
  expect(toolResultsOf(response).map(({ isError }) => isError)).toEqual([false, true]);
  expect((await tested.lines()).sort()).toEqual(['echo 200', 'fail 403']);
});

test('records a call that middleware retries once', async () => {
  const broken = dynamicTool({ name: 'broken', description: 'Breaks.' }, async () => {
    throw new Error('it broke');
  });
  const again = generateMiddleware({ name: 'again-in-application' }, () => ({
    tool: (request, context, next) => next(request, context).catch(() => next(request, context)),
  }));
  const generated = tested.cover().generate({
    ...modelOf([[{ name: 'broken', input: {} }]]),
    prompt: 'go',
    tools: [broken],
    use: [again()],
  });
  await expect(generated).rejects.toThrow('it broke');
  expect(await tested.lines()).toEqual(['broken 500']);
});

test('records generations of the developer interface', async () => {
  const { registry } = application as unknown as { registry: { lookupAction(key: string): Promise<never> } };
  application.defineTool({ name: 'shown', description: 'Is shown.' }, async () => 'shown');
  const generate = (await registry.lookupAction('/util/generate')) as (request: unknown) => Promise<unknown>;
  tested.cover();
  const messages = [{ role: 'user', content: [{ text: 'go' }] }];
  await generate({ ...modelOf([[{ name: 'shown', input: {} }]]), messages, tools: ['/tool/shown'] });
  expect(await tested.lines()).toEqual(['shown 200']);
});

test('covers an application of the copy of Genkit that `require` loads', async () => {
  const required = createRequire(import.meta.url)('genkit') as typeof import('genkit');
  const other = required.genkit({});
  other.defineTool({ name: 'fail', description: 'Breaks.' }, async () => 'broken');
  other.defineModel({ name: 'm', supports: { tools: true } }, async ({ messages }) => ({
    message: {
      role: 'model',
      content: messages.length > 1 ? [{ text: 'done' }] : [{ toolRequest: { ...fail, ref: '1' } }],
    },
  }));
  const response = await tested.cover(other).generate({ model: 'm', prompt: 'go', tools: ['fail'] });
  expect(toolResultsOf(response)).toMatchObject([{ isError: true }]);
  expect(await tested.lines()).toEqual(['fail 403']);
});

test('the own `actlog()` of a generation takes precedence', async () => {
  const own = tools();
  tested.cover();
  const use = [
    passing(),
    actlog({ recorder: tested.service.recorder(), sessionId: `${tested.sessionId}-own` }),
  ];
  for (const middleware of [use, use.slice(1)]) {
    await application.generate({
      ...modelOf([[echo('a')]]),
      prompt: 'go',
      tools: [own.echo],
      use: middleware,
    });
  }
  expect(await tested.lines()).toEqual([]);
  expect(await tested.service.events(`${tested.sessionId}-own`)).toHaveLength(2);
});

test('the last of several applies to generations from then on', async () => {
  const own = tools();
  const change = dynamicTool({ name: 'change', description: 'Changes the coverage.' }, async () => {
    actlog(application, { recorder: tested.service.recorder(), sessionId: `${tested.sessionId}-last` });
  });
  tested.cover();
  const turns = [[{ name: 'change', input: {} }], [echo('a')]];
  await application.generate({ ...modelOf(turns), prompt: 'go', tools: [change, own.echo] });
  await application.generate({ ...modelOf([[echo('b')]]), prompt: 'go', tools: [own.echo] });
  expect(await tested.lines()).toEqual(['change 200', 'echo 200']);
  expect(await tested.service.events(`${tested.sessionId}-last`)).toHaveLength(1);
});

test('a call that is held when another tool ends the generation never runs', async () => {
  const ran: string[] = [];
  const pay = dynamicTool({ name: 'pay', description: 'Pays.' }, async () => ran.push('pay'));
  const late = dynamicTool({ name: 'late', description: 'Breaks when the other is held.' }, async () => {
    await tested.service.held(tested.sessionId);
    throw new Error('it broke late');
  });
  const generated = tested.cover().generate({
    ...modelOf([
      [
        { name: 'pay', input: {} },
        { name: 'late', input: {} },
      ],
    ]),
    prompt: 'go',
    tools: [late, pay],
  });
  await expect(generated).rejects.toThrow('it broke late');
  await tested.service.decide(tested.sessionId, 'approve');
  expect((await tested.lines()).sort()).toEqual(['late 500', 'pay 499']);
  expect(ran).toEqual([]);
});

test('tells calls without an id and with the same input apart', async () => {
  const own = tools();
  const same = { name: 'echo', input: 'a' as never, ref: null };
  const open = dynamicTool(
    { name: 'echo', description: 'Says it.', inputSchema: z.string() },
    async (text) => text,
  );
  await tested.cover().generate({ ...modelOf([[same, same], [same]]), prompt: 'go', tools: [open] });
  const left = await application.generate({
    ...modelOf([[echo('b'), { name: 'nowhere', input: {} }]]),
    prompt: 'go',
    tools: [own.echo],
    returnToolRequests: true,
  });
  expect(left.toolRequests).toHaveLength(2);
  expect(await tested.lines()).toEqual(['echo 200', 'echo 200', 'echo 200']);
});

test('a tool with parts in its output keeps them, and its denial is an error', async () => {
  const multipart = (name: string) =>
    application.defineTool(
      { name, description: 'Finds.', multipart: true } as never,
      async () => ({ output: { found: 1 }, content: [{ text: 'more' }] }) as never,
    );
  const found = [multipart('several'), multipart('fail')];
  const response = await tested.cover().generate({
    ...modelOf([[{ name: 'several', input: {} }, fail]]),
    prompt: 'go',
    tools: found,
  });
  const parts = (response as GenerateResponse).messages.at(-2)?.content ?? [];
  expect(parts.map(({ toolResponse }) => toolResponse)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: 'several', output: { found: 1 }, content: [{ text: 'more' }] }),
      expect.objectContaining({ name: 'fail', output: { error: expect.stringContaining('Never fail.') } }),
    ]),
  );
  expect((await tested.lines()).sort()).toEqual(['fail 403', 'several 200']);
});

test('records an interrupting tool when it has been started again, and holds none that was', async () => {
  const covered = actlog(betaApplication, {
    recorder: tested.service.guarded(),
    sessionId: tested.sessionId,
  });
  const asking = (name: string) =>
    dynamicTool({ name, description: 'Asks.' }, async (_input, { interrupt, resumed }) =>
      resumed ? 'sure' : interrupt({ question: 'Sure?' }),
    );
  const restarted = async (name: string) => {
    const ask = asking(name);
    const script = { ...modelOf([[{ name, input: {} }]]), tools: [ask] };
    const generated = covered.generate({ ...script, prompt: 'go' });
    if (name === 'pay') await tested.service.decide(tested.sessionId, 'approve');
    const first = await generated;
    const restart = first.interrupts.map((interrupted) => ask.restart(interrupted));
    return covered.generate({ ...script, messages: first.messages, resume: { restart } });
  };
  expect(toolResultsOf(await restarted('ask'))).toEqual([{ text: 'sure', isError: false }]);
  expect(await tested.lines()).toEqual(['ask 200']);
  expect(toolResultsOf(await restarted('pay'))).toMatchObject([{ isError: true }]);
  expect(await tested.lines()).toEqual(['ask 200', 'pay 403']);
});
