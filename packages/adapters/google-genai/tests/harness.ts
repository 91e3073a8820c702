import type { Abilities, AdapterHarness, Ending, Scenario, SuiteTool } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import type { Content, GenerateContentConfig, GenerateContentResponse, GoogleGenAI } from '@google/genai';
import * as z from 'zod';
import { version } from '../src/client.ts';
import { actlog } from '../src/index.ts';
import { toolOf, withModel } from './model.ts';

const parameters = z.object({ text: z.string() });
const model = 'scripted';

/** Runs an agent with a client of the scripted model and returns its last text. */
type Loop = (client: GoogleGenAI, scenario: Scenario, config: GenerateContentConfig) => Promise<string>;

function ended(scenario: Scenario, loop: Loop): Promise<Ending> {
  const { adapter, isInstalledTwice, sessionId, systemText, signal, tools } = scenario;
  const turns = scenario.turns.map((calls) =>
    calls.map(({ toolName: name, arguments: args }) => ({ name, args })),
  );
  const config: GenerateContentConfig = {
    tools: [toolOf(functionsOf(tools))],
    ...(systemText !== undefined && { systemInstruction: systemText }),
    ...(signal && { abortSignal: signal }),
  };
  return withModel(turns, async (client, model) => {
    for (let times = isInstalledTwice ? 2 : 1; adapter && times > 0; times -= 1) {
      actlog(client, { sessionId, ...adapter });
    }
    try {
      const finalText = await loop(client, scenario, config);
      const toolResults = model.responses().map(({ output, error }) => ({
        text: String(error ?? output),
        isError: error !== undefined,
      }));
      return { toolResults, finalText };
    } catch (error) {
      return { toolResults: [], error };
    }
  });
}

function functionsOf(tools: readonly SuiteTool[]) {
  const functions = tools.map(({ name, run }) => [name, (args: unknown) => run(parameters.parse(args))]);
  return Object.fromEntries(functions) as Record<string, (args: unknown) => Promise<string>>;
}

/** Returns the text of a response, or of all responses of a stream. The SDK's own getter warns of other parts. */
async function textOf(
  responses: GenerateContentResponse | AsyncIterable<GenerateContentResponse>,
): Promise<string> {
  let text = '';
  const stream = Symbol.asyncIterator in responses ? responses : [responses];
  for await (const { candidates } of stream) text += candidates?.[0]?.content?.parts?.[0]?.text ?? '';
  return text;
}

const generate: Loop = async ({ models }, { isStreamed, userText: contents = 'go' }, config) => {
  const request = { model, contents, config };
  return textOf(await (isStreamed ? models.generateContentStream(request) : models.generateContent(request)));
};

const chat: Loop = async ({ chats }, { isStreamed, userText: message = 'go' }, config) => {
  const started = chats.create({ model, config });
  return textOf(
    await (isStreamed ? started.sendMessageStream({ message }) : started.sendMessage({ message })),
  );
};

/** Returns the responses to the calls of a manual loop without the adapter. */
async function resultsByHand({ functionCalls = [] }: GenerateContentResponse, { tools }: Scenario) {
  const functions = functionsOf(tools);
  const responses = functionCalls.map(async ({ name = '', args }) => {
    try {
      const run = functions[name];
      if (!run) throw new Error(`There is no tool named ${JSON.stringify(name)}.`);
      return { functionResponse: { name, response: { output: await run(args) } } };
    } catch (error) {
      return { functionResponse: { name, response: { error: `Error: ${(error as Error).message}` } } };
    }
  });
  return responses.length === 0 ? [] : [{ role: 'user', parts: await Promise.all(responses) }];
}

/** A manual loop, with the adapter's helper or its own. */
const handLoop: Loop = async ({ models }, scenario, { systemInstruction, abortSignal }) => {
  const { adapter, tools, sessionId, signal, isStreamed, userText = 'go' } = scenario;
  const functions = functionsOf(tools);
  // Installed twice means here that the functions are instrumented too.
  const instrumented = scenario.isInstalledTwice && adapter?.recorder?.instrument(functions);
  const runCalls = adapter && actlog.callRunner(instrumented || functions, { sessionId, ...adapter });
  const contents: Content[] = [{ role: 'user', parts: [{ text: userText }] }];
  const config = { ...(systemInstruction && { systemInstruction }), ...(abortSignal && { abortSignal }) };
  while (true) {
    const request = { model, contents: [...contents], config };
    let response: GenerateContentResponse | undefined;
    if (isStreamed) for await (response of await models.generateContentStream(request));
    else response = await models.generateContent(request);
    if (!response) throw new Error('The stream is empty.');
    const results = runCalls
      ? await runCalls(response, { contents, signal, ...(systemInstruction && { systemInstruction }) })
      : await resultsByHand(response, scenario);
    const content = response.candidates?.[0]?.content;
    if (results.length === 0) return textOf(response);
    contents.push(...(content ? [content] : []), ...results);
  }
};

const identity = { framework: 'google-genai', sdk: `@actlog/google-genai/${version}` };
const abilities: Abilities = {
  ...fullAbilities,
  hasOwnHooks: false,
  hasSession: false,
  origins: { user: true, system: true, results: true },
};

/** Automatic function calling of single requests. */
export const generateHarness: AdapterHarness = {
  ...identity,
  hook: '`actlog(ai)`',
  abilities: { ...abilities, maxDenials: 10 },
  run: (scenario) => ended(scenario, generate),
};

/** The same in a chat. */
export const chatHarness: AdapterHarness = {
  ...generateHarness,
  hook: '`actlog(ai)`, chats',
  run: (scenario) => ended(scenario, chat),
};

/** A manual loop around the adapter's helper. */
export const callRunnerHarness: AdapterHarness = {
  ...identity,
  hook: '`actlog.callRunner(functions)`',
  abilities: { ...abilities, maxDenials: 'caller', changes: 'noticed' },
  run: (scenario) => ended(scenario, handLoop),
};
