import type { Message, StreamResponse, Task } from '@a2a-js/sdk';
import { TaskState } from '@a2a-js/sdk';
import type { CallInterceptor, Client } from '@a2a-js/sdk/client';
import type { AgentExecutor } from '@a2a-js/sdk/server';
import type { AdapterHarness, Ending, Scenario, ScriptedCall } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import { version } from '../src/a2a-calls.ts';
import { type ActlogOptions, actlog } from '../src/index.ts';
import { contentOfResponse, ResponseInProgress } from '../src/response.ts';
import { AgentNetwork, answering, dataPart, newMessage, requestOf, textPart } from './agents.ts';

type Side = 'client' | 'executor';

/** Clients that call other agents. Each tool of the suite is an agent. */
export const a2aClientHarness = a2aHarness('client');

/** Agents that are called. */
export const a2aExecutorHarness = a2aHarness('executor');

function a2aHarness(side: Side): AdapterHarness {
  const isClient = side === 'client';
  return {
    hook: isClient ? '`actlog(client)`' : '`actlog(executor)`',
    framework: 'a2a',
    sdk: `@actlog/a2a/${version}`,
    abilities: {
      ...fullAbilities,
      aborts: isClient, // an executor has no signal
      thrown: isClient ? 500 : 502, // a client receives a failed task
      invalidArguments: 403, // the agent rejects the task
      unknownTool: isClient ? 404 : 'unseen',
      maxDenials: 'caller',
      changes: false, // a message is not made of its arguments
    },
    run: (scenario) => runScenario(side, scenario),
  };
}

async function runScenario(side: Side, scenario: Scenario): Promise<Ending> {
  const network = new AgentNetwork();
  for (const { name, run } of scenario.tools) {
    network.add(
      name,
      adaptedExecutor(
        side,
        name,
        scenario,
        answering((text) => run({ text })),
      ),
    );
  }
  const toolResults: Ending['toolResults'][number][] = [];
  for (const turn of scenario.turns) {
    const calls = turn.map((call) => send(side, network, scenario, call));
    for (const call of await Promise.allSettled(calls)) {
      if (scenario.signal?.aborted) return { toolResults, error: scenario.signal.reason };
      toolResults.push(
        call.status === 'fulfilled'
          ? resultOf(call.value)
          : { text: (call.reason as Error).message, isError: true },
      );
    }
  }
  return { toolResults, finalText: 'done' };
}

function adaptedExecutor(
  side: Side,
  name: string,
  { adapter, isInstalledTwice, ownHook }: Scenario,
  executor: AgentExecutor,
): AgentExecutor {
  if (side === 'client') return executor;
  const hooked: AgentExecutor = {
    execute: (context, bus) => {
      ownHook?.(name);
      return executor.execute(context, bus);
    },
    cancelTask: (taskId, bus) => executor.cancelTask(taskId, bus),
  };
  return adapter ? recordTwice(hooked, { ...adapter, name }, isInstalledTwice ?? false) : hooked;
}

/** The second guard differs from the first: both apply, and the call is recorded once. */
function recordTwice<Target extends Client | AgentExecutor>(
  target: Target,
  adapter: ActlogOptions,
  isTwice: boolean,
): Target {
  actlog(target, adapter);
  return isTwice ? actlog(actlog(target, adapter), { ...adapter, guard: { mode: 'off' } }) : target;
}

async function send(
  side: Side,
  network: AgentNetwork,
  { adapter, isInstalledTwice, isStreamed, ownHook, sessionId, signal }: Scenario,
  { toolName, arguments: args }: ScriptedCall,
): Promise<Message | Task> {
  const hook: CallInterceptor = { before: async () => ownHook?.(toolName), after: async () => {} };
  const client = await network.connect(toolName, side === 'client' && ownHook ? [hook] : []);
  if (side === 'client' && adapter) recordTwice(client, adapter, isInstalledTwice ?? false);
  const part = typeof args.text === 'string' ? textPart(args.text) : dataPart(args);
  const request = requestOf(newMessage([part], { contextId: sessionId }));
  const options = signal && { signal };
  if (!isStreamed) return client.sendMessage(request, options);
  return lastOf(client.sendMessageStream(request, options));
}

/** Returns the message or the task of a stream. */
async function lastOf(stream: AsyncIterable<StreamResponse>): Promise<Message | Task> {
  const progress = new ResponseInProgress(true);
  for await (const { payload } of stream) progress.add(payload?.$case, payload?.value);
  return progress.response as Message | Task;
}

function resultOf(response: Message | Task) {
  const isError = 'status' in response && response.status?.state !== TaskState.TASK_STATE_COMPLETED;
  const content = contentOfResponse(response as Parameters<typeof contentOfResponse>[0]);
  return { text: typeof content === 'string' ? content : JSON.stringify(content), isError };
}
