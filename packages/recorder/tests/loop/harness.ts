import type { AdapterHarness, Ending, Scenario, SuiteTool } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import * as z from 'zod';
import { actlog } from '../../src/loop/index.ts';
import { version } from '../../src/version.ts';
import { bedrock } from './bedrock.ts';
import { mistral } from './mistral.ts';
import { ollama } from './ollama.ts';
import type { Conversation, ModelCall, Provider } from './provider.ts';
import { ScriptedServer } from './scripted-server.ts';

const parameters = z.object({ text: z.string() });

function functionsOf(tools: readonly SuiteTool[], signal: AbortSignal | undefined) {
  const functions = tools.map(({ name, run }) => [
    name,
    (args: unknown) => run(parameters.parse(args), signal),
  ]);
  return Object.fromEntries(functions) as Record<string, (args: unknown) => Promise<string>>;
}

/** Returns the result of a call in a loop without the helper. */
async function resultByHand(call: ModelCall & { readonly id: string }, { tools, signal }: Scenario) {
  const { id, name } = call;
  try {
    const run = functionsOf(tools, signal)[name];
    if (!run) throw new Error(`There is no tool named ${JSON.stringify(name)}.`);
    return { id, name, text: await run(call.arguments), isError: false };
  } catch (error) {
    return { id, name, text: `Error: ${(error as Error).message}`, isError: true };
  }
}

function runCallsOf({ tools, signal, adapter, sessionId, isInstalledTwice }: Scenario) {
  const functions = functionsOf(tools, signal);
  // Installed twice means here that the functions are instrumented too.
  const instrumented = isInstalledTwice && adapter?.recorder?.instrument(functions);
  return adapter && actlog(instrumented || functions, { sessionId, ...adapter });
}

async function lastText(conversation: Conversation, scenario: Scenario): Promise<string> {
  const runCalls = runCallsOf(scenario);
  while (true) {
    const { calls, text } = await conversation.next();
    if (runCalls) {
      if ((await conversation.runWith(runCalls, { signal: scenario.signal })) === 0) return text;
    } else {
      if (calls.length === 0) return text;
      conversation.append(await Promise.all(calls.map((call) => resultByHand(call, scenario))));
    }
  }
}

async function ended(provider: Provider, scenario: Scenario): Promise<Ending> {
  const { turns, userText = 'go', systemText } = scenario;
  const bodies = [...turns, []].map((calls, turn) =>
    provider.body(
      calls.map(({ toolName: name, arguments: args }) => ({ name, arguments: args })),
      turn,
    ),
  );
  const server = await ScriptedServer.start(bodies, provider.isHttp2);
  const conversation = provider.start(server.url, userText, systemText);
  try {
    const finalText = await lastText(conversation, scenario);
    return { toolResults: provider.resultsIn(server.sent.at(-1)), finalText };
  } catch (error) {
    return { toolResults: [], error };
  } finally {
    conversation.close();
    await server.close();
  }
}

function harnessOf(provider: Provider): AdapterHarness {
  return {
    framework: 'loop',
    sdk: `@actlog/recorder/loop/${version}`,
    hook: `\`actlog(functions)\`, ${provider.name}`,
    abilities: {
      ...fullAbilities,
      streams: false,
      hasOwnHooks: false,
      hasSession: false,
      maxDenials: 'caller',
      changes: 'noticed',
      origins: { user: true, system: true, results: true },
    },
    run: (scenario) => ended(provider, scenario),
  };
}

/** A loop over the Converse API of Amazon Bedrock. */
export const bedrockHarness: AdapterHarness = harnessOf(bedrock);

/** A loop over Mistral's API. */
export const mistralHarness: AdapterHarness = harnessOf(mistral);

/** A loop over Ollama. */
export const ollamaHarness: AdapterHarness = harnessOf(ollama);
