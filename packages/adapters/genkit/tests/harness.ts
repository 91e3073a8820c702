import type { AdapterHarness, Ending, Scenario, SuiteTool } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import { dynamicTool, generateMiddleware, z } from 'genkit';
import { actlog } from '../src/index.ts';
import { version } from '../src/version.ts';
import { ai, modelOf, toolAnswers } from './agent.ts';

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

async function lastResponse(scenario: Scenario) {
  const { tools, turns, sessionId, adapter, isInstalledTwice, isStreamed, signal, ownHook } = scenario;
  const { userText = 'go', systemText } = scenario;
  const calls = turns.map((turn) =>
    turn.map(({ toolName, arguments: input }) => ({ name: toolName, input })),
  );
  const recording = adapter ? [actlog(adapter), ...(isInstalledTwice ? [actlog(adapter)] : [])] : [];
  const options = {
    ...modelOf(calls),
    prompt: userText,
    ...(systemText !== undefined && { system: systemText }),
    tools: tools.map(genkitTool),
    context: { sessionId },
    use: [...recording, ...(ownHook ? [ownMiddleware(ownHook)] : [])],
    ...(signal && { abortSignal: signal }),
  };
  if (!isStreamed) return ai.generate(options);
  const { stream, response } = ai.generateStream(options);
  for await (const _ of stream);
  return response;
}

/** Generations of Genkit, with middleware. */
export const genkitHarness: AdapterHarness = {
  framework: 'genkit',
  sdk: `@actlog/genkit/${version}`,
  hook: '`use: [actlog()]`',
  abilities: { ...fullAbilities, origins: { user: true, system: true, results: true } },
  async run(scenario): Promise<Ending> {
    try {
      const response = await lastResponse(scenario);
      return { answers: toolAnswers(response), finalText: response.text };
    } catch (error) {
      return { answers: [], error };
    }
  },
};
