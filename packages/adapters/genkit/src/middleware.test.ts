import { Service, secondCopy, withEnvironment } from '@actlog/adapter-suite';
import { sharedRecorder } from '@actlog/recorder';
import { dynamicTool, GenkitError, generateMiddleware } from 'genkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ai, beta, modelOf, toolResultsOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const fail = { name: 'fail', input: {} };
const echo = (text: string) => ({ name: 'echo', input: { text } });

test('a denial is an error in its own words alone, and the other tools of the turn run', async () => {
  const { id } = await service.client.policies.create({
    name: 'no',
    effect: 'deny',
    match: { tools: ['fail'] },
    message: 'Never fail.',
  });
  const own = tools();
  const response = await ai.generate({
    ...modelOf([[{ ...fail, ref: null }, echo('a')]]),
    prompt: 'go',
    tools: [own.fail, own.echo],
    use: [actlog({ recorder: service.guarded(), sessionId: 'denied' })],
  });
  expect(own.ran).toEqual(['echo a']);
  const [denied, allowed] = response.messages.at(-2)?.content ?? [];
  const words = expect.stringMatching(
    /^The call of the tool "fail" was not run: .*Never fail\..*tell the user\.$/,
  );
  expect(denied?.toolResponse).toEqual({ name: 'fail', output: { error: words } });
  expect(allowed?.toolResponse?.output).toBe('echo: a');
  await service.client.policies.archive(id);
});

test('a tool that throws ends the generation, and what ran beside it is recorded too', async () => {
  const own = tools();
  const generated = ai.generate({
    ...modelOf([[fail, echo('a')]]),
    prompt: 'go',
    tools: [own.fail, own.echo],
    use: [actlog({ recorder: service.recorder(), sessionId: 'beside' })],
  });
  await expect(generated).rejects.toThrow('it broke');
  const events = (await service.events('beside')).map(({ toolName, status }) => `${toolName} ${status}`);
  expect(events.sort()).toEqual(['echo 200', 'fail 502']);
});

test('a call that is held when another tool ends the generation never runs', async () => {
  const { id } = await service.client.policies.create({
    name: 'ask',
    effect: 'require_approval',
    match: { tools: ['echo'] },
  });
  const own = tools();
  const late = dynamicTool({ name: 'late', description: 'Breaks when the other is held.' }, async () => {
    await service.held('held-beside');
    throw new Error('it broke late');
  });
  const generated = ai.generate({
    ...modelOf([[echo('a'), { name: 'late', input: {} }]]),
    prompt: 'go',
    tools: [late, own.echo],
    use: [actlog({ recorder: service.guarded(), sessionId: 'held-beside' })],
  });
  await expect(generated).rejects.toThrow('it broke late');
  await service.decide('held-beside', 'approve');
  const events = (await service.events('held-beside')).map(({ toolName, status }) => `${toolName} ${status}`);
  expect(events.sort()).toEqual(['echo 499', 'late 500']);
  expect(own.ran).toEqual([]);
  await service.client.policies.archive(id);
});

test('guards and runs a turn retried by outer middleware', async () => {
  const own = tools();
  const flaky = generateMiddleware({ name: 'flaky', description: 'Fails once, after the tool.' }, () => {
    let failures = 0;
    return {
      tool: async (request, context, next) => {
        const response = await next(request, context);
        if (failures++ === 0) throw new Error('once');
        return response;
      },
    };
  });
  const again = generateMiddleware({ name: 'again-outside' }, () => ({
    generate: (envelope, context, next) => next(envelope, context).catch(() => next(envelope, context)),
  }));
  const use = [again(), actlog({ recorder: service.guarded(), sessionId: 'turn-again' }), flaky()];
  const response = await ai.generate({ ...modelOf([[echo('a')]]), prompt: 'go', tools: [own.echo], use });
  expect(response.text).toBe('done');
  expect(own.ran).toEqual(['echo a', 'echo a']);
  expect(await service.events('turn-again')).toMatchObject([{ status: 500 }, { status: 200 }]);
});

test('passes on the chunks of a stream unchanged', async () => {
  const run = async (use: ReturnType<typeof actlog>[]) => {
    const calls = [[echo('a')], [echo('b'), echo('c')]];
    const chunks: unknown[] = [];
    const { stream, response } = ai.generateStream({
      ...modelOf(calls),
      prompt: 'go',
      tools: [tools().echo],
      use,
    });
    for await (const chunk of stream)
      chunks.push({ ...chunk.toJSON(), index: chunk.index, role: chunk.role });
    return { chunks, messages: (await response).messages };
  };
  const recorded = await run([actlog({ recorder: service.recorder(), sessionId: 'chunks' })]);
  expect(recorded).toEqual(await run([]));
  expect(recorded.chunks).toHaveLength(5);
});

test("records Genkit's own errors with their HTTP status", async () => {
  const locked = dynamicTool({ name: 'locked', description: 'Is locked.' }, async () => {
    throw new GenkitError({ status: 'PERMISSION_DENIED', message: 'No.' });
  });
  const use = [actlog({ recorder: service.recorder(), sessionId: 'locked' })];
  const model = modelOf([[{ name: 'locked', input: {} }]]);
  await expect(ai.generate({ ...model, prompt: 'go', tools: [locked], use })).rejects.toThrow('No.');
  expect(await service.events('locked')).toMatchObject([{ toolName: 'locked', status: 403 }]);
});

test('counts calls without an id and of unknown tools once when installed twice', async () => {
  const adapter = { recorder: service.recorder(), sessionId: 'no-ids' };
  const unknown = { name: 'nowhere', input: {} };
  const generated = ai.generate({
    ...modelOf([[{ ...echo('a'), ref: null }], [{ ...unknown, ref: null }]]),
    prompt: 'go',
    tools: [tools().echo],
    use: [actlog(adapter), actlog(adapter)],
  });
  await expect(generated).rejects.toThrow('Tool nowhere not found');
  expect(await service.events('no-ids')).toMatchObject([
    { toolName: 'echo', status: 200 },
    { toolName: 'nowhere', status: 404 },
  ]);
});

test('treats an explicit and an implicit shared recorder as one', async () => {
  await withEnvironment(service, async () => {
    const recorder = sharedRecorder();
    const sessionId = 'shared';
    const use = [actlog({ sessionId }), actlog({ sessionId, recorder })];
    const model = modelOf([[{ name: 'nowhere', input: {} }]]);
    await expect(ai.generate({ ...model, prompt: 'go', use })).rejects.toThrow('Tool nowhere not found');
    await recorder.flush();
    expect(await service.events(sessionId)).toMatchObject([{ toolName: 'nowhere', status: 404 }]);
  });
});

test('records with each of two middlewares with different options', async () => {
  const use = ['first', 'second'].map((sessionId) => actlog({ recorder: service.recorder(), sessionId }));
  const prompt = 'go';
  await ai.generate({ ...modelOf([[echo('a')]]), prompt, tools: [tools().echo], use });
  expect(await service.events('first')).toHaveLength(1);
  expect(await service.events('second')).toHaveLength(1);
});

test('counts each call once with two copies of the package', async () => {
  const second = await secondCopy(() => import('./index.ts'));
  expect(second.actlog).not.toBe(actlog);
  const other = { recorder: service.recorder(), sessionId: 'copies-other' };
  const adapter = { recorder: service.recorder(), sessionId: 'copies' };
  // The same number of each copy, so that both count equally.
  const use = [actlog(other), second.actlog(adapter), second.actlog(other), actlog(adapter)];
  const unknown = { name: 'nowhere', input: {}, ref: null };
  const generated = ai.generate({
    ...modelOf([[{ ...echo('a'), ref: null }], [unknown]]),
    prompt: 'go',
    tools: [tools().echo],
    use,
  });
  await expect(generated).rejects.toThrow('Tool nowhere not found');
  for (const session of ['copies', 'copies-other']) {
    expect(await service.events(session)).toMatchObject([{ status: 200 }, { status: 404 }]);
  }
});

test('records a call retried by inner middleware once', async () => {
  const own = tools();
  const again = generateMiddleware({ name: 'again' }, () => ({
    tool: (request, context, next) => next(request, context).catch(() => next(request, context)),
  }));
  const use = [actlog({ recorder: service.recorder(), sessionId: 'again' }), again()];
  const generated = ai.generate({ ...modelOf([[fail]]), prompt: 'go', tools: [own.fail], use });
  await expect(generated).rejects.toThrow('it broke');
  expect(own.ran).toEqual(['fail', 'fail']);
  expect(await service.events('again')).toHaveLength(1);
});

test('does not record calls left to the caller', async () => {
  const response = await ai.generate({
    ...modelOf([[echo('a'), { name: 'nowhere', input: {} }]]),
    prompt: 'go',
    tools: [tools().echo],
    returnToolRequests: true,
    use: [actlog({ recorder: service.recorder(), sessionId: 'left' })],
  });
  expect(response.toolRequests).toHaveLength(2);
  expect(await service.events('left')).toEqual([]);
});

test("records with a prompt's own middleware, generated and streamed", async () => {
  const own = tools();
  const prompt = ai.definePrompt({
    name: 'recorded',
    ...modelOf([[echo('by prompt')]]),
    prompt: 'go',
    tools: [own.echo],
    use: [actlog({ recorder: service.recorder(), sessionId: 'prompt' })],
  });
  expect(toolResultsOf(await prompt())).toEqual([{ text: 'echo: by prompt', isError: false }]);
  const { stream, response } = prompt.stream();
  for await (const _ of stream);
  expect(toolResultsOf(await response)).toEqual([{ text: 'echo: by prompt', isError: false }]);
  expect(await service.events('prompt')).toHaveLength(2);
});

test("records with the middleware of the call, which replaces a prompt's own", async () => {
  const prompt = ai.definePrompt({
    name: 'replaced',
    ...modelOf([[echo('by call')]]),
    prompt: 'go',
    tools: [tools().echo],
    use: [actlog({ recorder: service.recorder(), sessionId: 'prompts-own' })],
  });
  await prompt(undefined, { use: [actlog({ recorder: service.recorder(), sessionId: 'calls-own' })] });
  expect(await service.events('prompts-own')).toEqual([]);
  expect(await service.events('calls-own')).toMatchObject([{ toolName: 'echo', status: 200 }]);
});

test('records an interrupting tool when it has been restarted and ended', async () => {
  const ask = dynamicTool({ name: 'ask', description: 'Asks.' }, async (_input, { interrupt, resumed }) =>
    resumed ? 'sure' : interrupt({ question: 'Sure?' }),
  );
  const { model, config } = modelOf([[{ name: 'ask', input: {} }]]);
  const use = [actlog({ recorder: service.recorder(), sessionId: 'interrupted' })];
  const first = await beta.generate({ model, config, prompt: 'go', tools: [ask], use });
  expect(first.finishReason).toBe('interrupted');
  expect(await service.events('interrupted')).toEqual([]);
  const restart = first.interrupts.map((interrupted) => ask.restart(interrupted));
  const messages = first.messages;
  const second = await beta.generate({ model, config, messages, resume: { restart }, tools: [ask], use });
  expect(toolResultsOf(second)).toEqual([{ text: 'sure', isError: false }]);
  expect(await service.events('interrupted')).toMatchObject([{ toolName: 'ask', status: 200 }]);
});
