import { dynamicTool, type GenerateOptions, generateMiddleware } from 'genkit';
import { expect, test } from 'vitest';
import { ai, application, beta, modelOf, toolResultsOf, tools } from '../tests/agent.ts';
import { CoveredApplication, echo, fail, passing } from '../tests/covered-application.ts';
import { actlog } from './index.ts';

const tested = new CoveredApplication();

function asker(name: string, ask: () => Promise<{ text: string }>) {
  return dynamicTool({ name, description: 'Asks another.' }, async () => (await ask()).text);
}

test('records generations inside tools, flows and middleware once, in the session of the outer one', async () => {
  const own = tools();
  const covered = actlog(application, { recorder: tested.service.guarded({}) });
  const context = { sessionId: tested.sessionId };
  const inner = (text: string, use: GenerateOptions['use'] = []) =>
    covered.generate({ ...modelOf([[echo(text), fail]]), prompt: 'go', tools: [own.echo, own.fail], use });
  const flow = covered.defineFlow(`flow-${tested.sessionId}`, async () => (await inner('flow')).text);
  const thinking = generateMiddleware({ name: 'thinking' }, ({ ai: ofMiddleware }) => ({
    generate: async (envelope, options, next) => {
      const more = { ...modelOf([[echo('middleware')]]), prompt: 'go', tools: [own.echo] };
      if (envelope.currentTurn === 0) await ofMiddleware.generate(more);
      return next(envelope, options);
    },
  }));
  const team = [
    asker('worker', () => inner('worker')),
    asker('helper', () => inner('helper', [passing()])),
    asker('process', async () => ({ text: await flow() })),
  ];
  const calls = team.map(({ __action: { name } }) => ({ name, input: {} }));
  await covered.generate({ ...modelOf([calls]), prompt: 'go', tools: team, context, use: [thinking()] });
  const once = ['worker', 'helper', 'process'].flatMap((name) => ['echo 200', 'fail 403', `${name} 200`]);
  expect((await tested.lines()).sort()).toEqual(['echo 200', ...once].sort());
  expect(own.ran.sort()).toEqual(['flow', 'helper', 'middleware', 'worker'].map((text) => `echo ${text}`));
});

test('covers generations inside a tool of a generation with its own `actlog()`', async () => {
  const own = tools();
  const prompt = ai.definePrompt({
    name: 'inner-prompt',
    ...modelOf([[echo('prompt'), fail]]),
    prompt: 'go',
    tools: [own.echo, own.fail],
  });
  const inner = async () => {
    await prompt();
    return beta.generate({ ...modelOf([[echo('beta')]]), prompt: 'go', tools: [own.echo], use: [passing()] });
  };
  const outer = {
    ...modelOf([[{ name: 'worker', input: {} }]]),
    prompt: 'go',
    tools: [asker('worker', inner)],
  };
  await ai.generate({
    ...outer,
    use: [actlog({ recorder: tested.service.guarded(), sessionId: tested.sessionId })],
  });
  expect(own.ran).toEqual(['echo prompt', 'echo beta']);
  expect((await tested.lines()).sort()).toEqual(['echo 200', 'echo 200', 'fail 403', 'worker 200']);
  await expect(inner()).rejects.toThrow('it broke');
  expect(await tested.lines()).toHaveLength(4);
});

test('covers generations of another application inside a tool', async () => {
  const own = tools();
  const worker = asker('worker', () =>
    ai.generate({ ...modelOf([[echo('a'), fail]]), prompt: 'go', tools: [own.echo, own.fail] }),
  );
  const calls = [[{ name: 'worker', input: {} }]];
  await tested.cover().generate({ ...modelOf(calls), prompt: 'go', tools: [worker] });
  expect(own.ran).toEqual(['echo a']);
  expect((await tested.lines()).sort()).toEqual(['echo 200', 'fail 403', 'worker 200']);
});

test('covers generations of middleware behind the own `actlog()` of a generation', async () => {
  const own = tools();
  const more = { ...modelOf([[echo('middleware')]]), prompt: 'go', tools: [own.echo] };
  const thinking = generateMiddleware({ name: 'thinking-behind' }, ({ ai: ofMiddleware }) => ({
    generate: async (envelope, options, next) => {
      await ofMiddleware.generate(more);
      return next(envelope, options);
    },
  }));
  const use = [actlog({ recorder: tested.service.recorder(), sessionId: tested.sessionId }), thinking()];
  await ai.generate({ ...modelOf([]), prompt: 'go', use });
  expect(await tested.lines()).toEqual(['echo 200']);
});

test('a call inside a tool that is held runs when it is approved', async () => {
  const pay = dynamicTool({ name: 'pay', description: 'Pays.' }, async () => 'paid');
  const worker = asker('worker', () =>
    application.generate({ ...modelOf([[{ name: 'pay', input: {} }]]), prompt: 'go', tools: [pay] }),
  );
  const generated = tested.cover().generate({
    ...modelOf([[{ name: 'worker', input: {} }]]),
    prompt: 'go',
    tools: [worker],
  });
  await tested.service.decide(tested.sessionId, 'approve');
  await generated;
  expect((await tested.lines()).sort()).toEqual(['pay 200', 'worker 200']);
});

test('records a prompt as a tool and what follows, and guards it', async () => {
  const own = tools();
  const prompt = (name: string) =>
    application.definePrompt({ name, model: 'scripted', prompt: 'Help.', tools: [own.echo] });
  const names = [`helper-${tested.sessionId}`, 'fail'];
  const [helper, denied] = names.map(prompt);
  const input = {};
  const turns = [[{ name: names[0] as string, input }], [echo('a')]];
  application.defineTool({ name: 'echo', description: 'Says it.' }, async () => own.ran.push('echo'));
  await tested.cover().generate({ ...modelOf(turns), prompt: 'go', tools: [helper as never, 'echo'] });
  expect(await tested.lines()).toEqual([`${names[0]} 200`, 'echo 200']);
  const script = modelOf([[{ name: 'fail', input }]]);
  const told = application
    .generate({ ...script, prompt: 'go', tools: [denied as never] })
    .then((response) => toolResultsOf(response)[0]?.text, String);
  expect(await told).toMatch('Never fail.');
  expect(await tested.lines()).toEqual([`${names[0]} 200`, 'echo 200', 'fail 403']);
});
