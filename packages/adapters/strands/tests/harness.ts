import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AdapterHarness, Ending, Scenario, SuiteTool } from '@actlog/adapter-suite';
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
import { version } from '../src/version.ts';
import { modelOf, toolAnswers, wordsOf } from './agent.ts';

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

function agentOf(scenario: Scenario, folder: string): Agent {
  const { tools, turns, sessionId, adapter, isInstalledTwice, ownHook, systemText } = scenario;
  const own = tools.map(strandsTool);
  const calls = turns.map((turn) => turn.map(({ toolName, arguments: args }) => ({ name: toolName, args })));
  const recording = adapter ? [actlog(adapter), ...(isInstalledTwice ? [actlog(adapter)] : [])] : [];
  return new Agent({
    model: modelOf(calls),
    tools: adapter && isInstalledTwice ? actlog.tools(own, adapter) : own,
    interventions: [...recording, ...(ownHook ? [new OwnIntervention(ownHook)] : [])],
    sessionManager: new SessionManager({ sessionId, storage: { snapshot: new FileStorage(folder) } }),
    printer: false,
    ...(systemText !== undefined && { systemPrompt: systemText }),
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

/** The agents of Strands, with an intervention. */
export const strandsHarness: AdapterHarness = {
  framework: 'strands',
  sdk: `@actlog/strands/${version}`,
  hook: '`interventions: [actlog()]`',
  abilities: { ...fullAbilities, origins: { user: true, system: true, results: true } },
  async run(scenario): Promise<Ending> {
    const folder = mkdtempSync(join(tmpdir(), 'actlog-strands-'));
    const agent = agentOf(scenario, folder);
    try {
      const { lastMessage } = await lastResult(agent, scenario);
      return { answers: toolAnswers(agent), finalText: wordsOf(lastMessage) };
    } catch (error) {
      return { answers: toolAnswers(agent), error };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
