import type { AdapterHarness, Chat, Ending, Scenario, SuiteTool } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import { dynamicTool, generateMiddleware, type MessageData, z } from 'genkit';
import { version } from '../src/coverage.ts';
import { actlog } from '../src/index.ts';
import { ai, application, modelOf, toolResultsOf } from './agent.ts';

/** Place of the adapter: the generation, or the whole application. */
type Place = 'generation' | 'application';

function genkitTool({ name, run }: SuiteTool) {
  const inputSchema = z.object({ text: z.string() });
  return dynamicTool({ name, description: `The tool ${name}.`, inputSchema }, ({ text }, { abortSignal }) =>
    run({ text }, abortSignal),
  );
}

function ownMiddleware(hear: (toolName: string) => void) {
  return generateMiddleware({ name: 'own' }, () => ({
    tool: (request, context, next) => {
      hear(request.toolRequest.name);
      return next(request, context);
    },
  }))();
}

/** Returns the instance that generates, and the middleware of the adapter. */
function parts({ adapter, isInstalledTwice }: Pick<Scenario, 'adapter' | 'isInstalledTwice'>, place: Place) {
  if (!adapter) return { instance: ai, use: [] };
  const again = isInstalledTwice ? [actlog(adapter)] : [];
  if (place === 'generation') return { instance: ai, use: [actlog(adapter), ...again] };
  return { instance: actlog(application, adapter), use: again };
}

async function lastResponse(scenario: Scenario, place: Place) {
  const { tools, turns, sessionId, isStreamed, signal, ownHook, userText = 'go', systemText } = scenario;
  const { instance, use } = parts(scenario, place);
  const calls = turns.map((turn) =>
    turn.map(({ toolName, arguments: input }) => ({ name: toolName, input })),
  );
  const options = {
    ...modelOf(calls),
    prompt: userText,
    ...(systemText !== undefined && { system: systemText }),
    tools: tools.map(genkitTool),
    context: { sessionId },
    use: [...use, ...(ownHook ? [ownMiddleware(ownHook)] : [])],
    ...(signal && { abortSignal: signal }),
  };
  if (!isStreamed) return instance.generate(options);
  const { stream, response } = instance.generateStream(options);
  for await (const _ of stream);
  return response;
}

/** Passes the messages of each response to the next generation, as Genkit's own examples do. */
async function chat({ tool, texts, adapter }: Chat, place: Place): Promise<void> {
  const { instance, use } = parts({ adapter }, place);
  // The scripted model counts its earlier messages: two for each turn of the chat.
  const model = modelOf(texts.flatMap((text) => [[{ name: tool.name, input: { text } }], []]));
  let messages: MessageData[] = [];
  for (const prompt of texts) {
    const response = await instance.generate({ ...model, messages, prompt, tools: [genkitTool(tool)], use });
    messages = JSON.parse(JSON.stringify(response.messages));
  }
}

function harnessOf(place: Place, hook: string): AdapterHarness {
  return {
    framework: 'genkit',
    sdk: `@actlog/genkit/${version}`,
    hook,
    abilities: { ...fullAbilities, origins: { user: true, system: true, results: true } },
    async run(scenario): Promise<Ending> {
      try {
        const response = await lastResponse(scenario, place);
        return { toolResults: toolResultsOf(response), finalText: response.text };
      } catch (error) {
        return { toolResults: [], error };
      }
    },
    chat: (told) => chat(told, place),
  };
}

/** Generations of Genkit, with middleware. */
export const genkitHarness: AdapterHarness = harnessOf('generation', '`use: [actlog()]`');

/** Generations of an application that is covered as a whole. */
export const processHarness: AdapterHarness = harnessOf('application', '`actlog(genkit({...}))`');
