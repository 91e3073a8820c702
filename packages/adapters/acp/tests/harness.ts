import type { AdapterHarness, Ending, Scenario } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import { client, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import { version } from '../src/acp-calls.ts';
import { actlog } from '../src/index.ts';
import { scriptedAgent } from './scripted-agent.ts';

/** A program that runs a coding agent. */
export const acpClientHarness = acpHarness('client');

/** A coding agent. */
export const acpAgentHarness = acpHarness('agent');

function acpHarness(side: 'client' | 'agent'): AdapterHarness {
  return {
    hook: `\`actlog(${side}())\`, calls with a request for permission`,
    framework: 'acp',
    sdk: `@actlog/acp/${version}`,
    abilities: {
      ...fullAbilities,
      // An agent only says that a call failed.
      thrown: 500,
      invalidArguments: 500,
      unknownTool: 500,
      timedOut: 499, // a turn is canceled without a reason
      runsTools: false,
      streams: false,
      maxDenials: 'caller',
      changes: false, // a permission is for the requested call
      origins: { user: true, system: false, results: true },
    },
    run: (scenario) => runScenario(side, scenario),
  };
}

async function runScenario(side: 'client' | 'agent', scenario: Scenario): Promise<Ending> {
  const { tools, turns, sessionId, adapter, isInstalledTwice, ownHook, signal, userText = 'go' } = scenario;
  let count = 0;
  const { app: agentApp, results } = scriptedAgent([sessionId], () =>
    turns.map((turn) =>
      turn.map(({ toolName, arguments: args }) => ({
        toolCallId: `call-${++count}`,
        name: toolName,
        rawInput: args,
        run: runOf(tools, toolName, args),
      })),
    ),
  );
  const clientApp = client({ name: 'editor' })
    .onRequest('session/request_permission', ({ params }) => {
      ownHook?.(String(params.toolCall.title).replace('Run ', ''));
      return { outcome: { outcome: 'selected', optionId: 'yes' } };
    })
    .onNotification('session/update', () => {});
  if (adapter) {
    const target = side === 'client' ? clientApp : agentApp;
    actlog(target, adapter);
    // The second guard differs from the first: both apply, and the call is recorded once.
    if (isInstalledTwice) actlog(actlog(target, adapter), { ...adapter, guard: { mode: 'off' } });
  }
  try {
    await clientApp.connectWith(agentApp, async (agent) => {
      await agent.request('initialize', { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
      await agent.request('session/new', { cwd: '/', mcpServers: [] });
      signal?.addEventListener('abort', () => void agent.notify('session/cancel', { sessionId }));
      await agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: userText }] });
    });
  } catch (error) {
    return { toolResults: results, error };
  }
  if (signal?.aborted) return { toolResults: results, error: signal.reason };
  return { toolResults: results, finalText: 'done' };
}

function runOf(tools: Scenario['tools'], name: string, args: Record<string, unknown>) {
  const tool = tools.find((each) => each.name === name);
  return (
    tool &&
    (async (signal: AbortSignal) => {
      if (typeof args.text !== 'string') throw new Error('text must be a string.');
      return tool.run({ text: args.text }, signal);
    })
  );
}
