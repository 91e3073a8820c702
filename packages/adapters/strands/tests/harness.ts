import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AdapterHarness, Chat, Ending, Scenario, SuiteTool } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import {
  Agent,
  type BeforeToolCallEvent,
  FileStorage,
  InterventionActions,
  InterventionHandler,
  SessionManager,
  tool,
} from '@strands-agents/sdk';
import * as z from 'zod';
import { actlog } from '../src/index.ts';
import { version } from '../src/strands-calls.ts';
import { modelOf, toolResultsOf, wordsOf } from './agent.ts';

function strandsTool({ name, run }: SuiteTool) {
  return tool({
    name,
    description: `The tool ${name}.`,
    inputSchema: z.object({ text: z.string() }),
    callback: ({ text }, context) => run({ text }, context?.agent.cancelSignal),
  });
}

class OwnIntervention extends InterventionHandler {
  override readonly name = 'own';
  readonly #hear: (toolName: string) => void;

  constructor(hear: (toolName: string) => void) {
    super();
    this.#hear = hear;
  }

  override beforeToolCall({ toolUse }: BeforeToolCallEvent) {
    this.#hear(toolUse.name);
    return InterventionActions.proceed();
  }
}

/** Place of the adapter: the agent's interventions, or the whole process. */
type Place = 'intervention' | 'process';

type AgentConfig = NonNullable<ConstructorParameters<typeof Agent>[0]>;

function agentOf(scenario: Scenario, place: Place, more: AgentConfig = {}): Agent {
  const { tools, turns, adapter, isInstalledTwice, ownHook, systemText } = scenario;
  const own = tools.map(strandsTool);
  const calls = turns.map((turn) => turn.map(({ toolName, arguments: args }) => ({ name: toolName, args })));
  const recording = adapter && place === 'intervention' ? [actlog(adapter)] : [];
  const again = adapter && place === 'intervention' && isInstalledTwice ? [actlog(adapter)] : [];
  return new Agent({
    model: modelOf(calls),
    tools: adapter && isInstalledTwice ? actlog.tools(own, adapter) : own,
    interventions: [...recording, ...again, ...(ownHook ? [new OwnIntervention(ownHook)] : [])],
    printer: false,
    ...(systemText !== undefined && { systemPrompt: systemText }),
    ...more,
  });
}

async function lastResult(agent: Agent, { isStreamed, signal, userText = 'go' }: Scenario) {
  const options = signal ? { cancelSignal: signal } : {};
  if (!isStreamed) return agent.invoke(userText, options);
  const events = agent.stream(userText, options);
  let next = await events.next();
  while (!next.done) next = await events.next();
  return next.value;
}

async function ending(scenario: Scenario, place: Place): Promise<Ending> {
  const { adapter, sessionId } = scenario;
  const folder = mkdtempSync(join(tmpdir(), 'actlog-strands-'));
  const sessionManager = new SessionManager({ sessionId, storage: { snapshot: new FileStorage(folder) } });
  const stop = adapter && place === 'process' ? actlog.install(adapter) : undefined;
  const agent = agentOf(scenario, place, { sessionManager });
  try {
    const { lastMessage } = await lastResult(agent, scenario);
    return { toolResults: toolResultsOf(agent), finalText: wordsOf(lastMessage) };
  } catch (error) {
    return { toolResults: toolResultsOf(agent), error };
  } finally {
    stop?.();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a chat whose messages are stored as JSON, and passed to a new agent for each turn. */
async function chat({ tool: own, texts, adapter }: Chat, place: Place): Promise<void> {
  const stop = place === 'process' ? actlog.install(adapter) : undefined;
  let stored = '[]';
  for (const text of texts) {
    const turns = [[{ toolName: own.name, arguments: { text } }]];
    const messages = JSON.parse(stored);
    const agent = agentOf({ tools: [own], turns, adapter, sessionId: '' }, place, { messages });
    await agent.invoke(text);
    stored = JSON.stringify(agent.messages);
  }
  stop?.();
}

function harnessOf(place: Place, hook: string): AdapterHarness {
  return {
    framework: 'strands',
    sdk: `@actlog/strands/${version}`,
    hook,
    abilities: { ...fullAbilities, origins: { user: true, system: true, results: true } },
    run: (scenario) => ending(scenario, place),
    chat: (told) => chat(told, place),
  };
}

/** The agents of Strands, with an intervention. */
export const strandsHarness: AdapterHarness = harnessOf('intervention', '`interventions: [actlog()]`');

/** The agents of Strands, with the adapter for the whole process. */
export const processHarness: AdapterHarness = harnessOf('process', '`actlog.install()` for the process');
