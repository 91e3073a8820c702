import { Service } from '@actlog/adapter-suite';
import type { GenerateOptions } from 'genkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { betaApplication, modelOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

/** A conversation of `genkit/beta`: a chat in older versions, that of an agent in newer ones. */
interface Conversation {
  readonly sessionId: string;
  send(text: string): Promise<unknown>;
}

interface Beta {
  chat?(options: object): Conversation;
  defineAgent?(options: object): { chat(): Conversation };
}

let count = 0;

function conversation(
  options: Omit<GenerateOptions, 'tools'> & { tools?: readonly unknown[] },
): Conversation {
  const { chat, defineAgent } = betaApplication as unknown as Beta;
  count += 1;
  const agent = defineAgent?.call(betaApplication, { name: `agent-${count}`, ...options });
  return (agent?.chat() ?? chat?.call(betaApplication, options)) as Conversation;
}

const echo = { name: 'echo', input: { text: 'a' } };

test.each(['the chat', 'the application'])(
  "finds Genkit's own session, with `actlog()` on %s",
  async (place) => {
    const own = tools();
    const options = { recorder: service.recorder() };
    if (place === 'the application') actlog(betaApplication, options);
    const registered = betaApplication.defineTool(
      { name: `echo-${place.slice(4)}`, description: 'Says it again.' },
      async () => own.ran.push('echo'),
    );
    const call = { name: `echo-${place.slice(4)}`, input: {} };
    const chat = conversation({
      ...modelOf([[call], [], [call], []]),
      tools: [registered],
      ...(place === 'the chat' && { use: [actlog(options)] }),
    });
    await chat.send('go');
    await chat.send('on');
    expect(own.ran).toEqual(['echo', 'echo']);
    expect(await service.events(chat.sessionId)).toHaveLength(2);
  },
);

test("the context takes precedence over Genkit's own session", async () => {
  const use = [actlog({ recorder: service.recorder() })];
  const context = { sessionId: 'of-the-context' };
  const own = tools();
  const inner = { ...modelOf([[echo]]), prompt: 'go', tools: [own.echo], context, use };
  const asking = betaApplication.defineTool({ name: 'asking', description: 'Asks.' }, async () => {
    await betaApplication.generate(inner);
  });
  await conversation({ ...modelOf([[{ name: 'asking', input: {} }]]), tools: [asking] }).send('go');
  expect(await service.events('of-the-context')).toMatchObject([{ toolName: 'echo', status: 200 }]);
});

test('an agent that a tool asks is in the session of the chat, although Genkit gives it its own', async () => {
  const own = tools();
  actlog(betaApplication, { recorder: service.recorder() });
  const inner = conversation({ ...modelOf([[echo]]), tools: [own.echo] });
  const asking = betaApplication.defineTool({ name: 'asking-an-agent', description: 'Asks.' }, async () => {
    await inner.send('please');
  });
  const call = { name: 'asking-an-agent', input: {} };
  const chat = conversation({ ...modelOf([[call]]), tools: [asking] });
  await chat.send('go');
  expect(await service.callLines(chat.sessionId)).toEqual(['tester echo 200', 'tester asking-an-agent 200']);
});
