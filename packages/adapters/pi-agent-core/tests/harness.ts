import type { AdapterHarness, Chat, Ending, Scenario } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import { version } from '../src/actlog.ts';
import { actlog } from '../src/index.ts';
import {
  type AgentOptions,
  formerPi,
  modelOf,
  type Pi,
  pi,
  textOf,
  textTool,
  toolResultsOf,
} from './agent.ts';

type Agent = InstanceType<Pi['Agent']>;

function agentOf({ Agent }: Pi, scenario: Scenario, more: Partial<AgentOptions['initialState']> = {}): Agent {
  const { tools, turns, sessionId, adapter, isInstalledTwice, ownHook, systemText } = scenario;
  const calls = turns.map((turn) => turn.map(({ toolName, arguments: args }) => ({ name: toolName, args })));
  const own = tools.map(({ name, run }) => textTool(name, (text, signal) => run({ text }, signal)));
  const agent = new Agent({
    initialState: {
      tools: adapter && isInstalledTwice ? actlog.tools(own, adapter) : own,
      ...(systemText !== undefined && { systemPrompt: systemText }),
      ...more,
    },
    streamFn: modelOf(calls),
    ...(sessionId !== '' && { sessionId }),
    ...(ownHook && {
      beforeToolCall: async ({ toolCall }) => {
        ownHook(toolCall.name);
        return undefined;
      },
    }),
  });
  return adapter ? actlog(isInstalledTwice ? actlog(agent, adapter) : agent, adapter) : agent;
}

async function ending(of: Pi, scenario: Scenario): Promise<Ending> {
  const agent = agentOf(of, scenario);
  const { signal, userText = 'go' } = scenario;
  signal?.addEventListener('abort', () => agent.abort());
  await agent.prompt(userText);
  const { messages, errorMessage } = agent.state;
  return {
    toolResults: toolResultsOf(messages),
    finalText: textOf(messages.at(-1)),
    ...(errorMessage !== undefined && { error: new Error(errorMessage) }),
  };
}

/** Runs a chat whose messages are stored as JSON, and passed to a new agent for each turn. */
async function chat(of: Pi, { tool, texts, adapter }: Chat): Promise<void> {
  let stored = '[]';
  for (const text of texts) {
    const turns = [[{ toolName: tool.name, arguments: { text } }]];
    const agent = agentOf(
      of,
      { tools: [tool], turns, adapter, sessionId: '' },
      { messages: JSON.parse(stored) },
    );
    await agent.prompt(text);
    stored = JSON.stringify(agent.state.messages);
  }
}

function harnessOf(of: Pi, hook: string): AdapterHarness {
  return {
    framework: 'pi-agent-core',
    sdk: `@actlog/pi-agent-core/${version}`,
    hook,
    // Its `abort()` takes no reason.
    abilities: { ...fullAbilities, timedOut: 499, origins: { user: true, system: true, results: true } },
    run: (scenario) => ending(of, scenario),
    chat: (told) => chat(of, told),
  };
}

/** Agents of `@earendil-works/pi-agent-core`. */
export const piHarness: AdapterHarness = harnessOf(pi, '`actlog(agent)`');

/** Agents of `@mariozechner/pi-agent-core`, the package's former name. */
export const formerPiHarness: AdapterHarness = harnessOf(
  formerPi,
  '`actlog(agent)`, `@mariozechner/pi-agent-core`',
);
