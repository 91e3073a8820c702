import type { Abilities, AdapterHarness, Chat, Ending, Scenario, SuiteTool } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import type OpenAI from 'openai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { VERSION } from 'openai/version';
import * as z from 'zod';
import { actlog } from '../src/index.ts';
import { version } from '../src/openai-calls.ts';
import { clientOf, toolResultsOf } from './model.ts';

const parameters = z.object({ text: z.string() });

/** Runs an agent with a client of the scripted service and returns its last text. */
export type Loop = (client: OpenAI, scenario: Scenario) => Promise<string | null>;

export async function ended(scenario: Scenario, loop: Loop): Promise<Ending> {
  const turns = scenario.turns.map((calls) => ({
    calls: calls.map(({ toolName: name, arguments: args }) => ({ name, text: JSON.stringify(args) })),
  }));
  const { client, sent } = clientOf(turns);
  try {
    const finalText = (await loop(client, scenario)) ?? undefined;
    return { toolResults: toolResultsOf(sent), finalText };
  } catch (error) {
    return { toolResults: [], error };
  }
}

function runnableTool({ name, run }: SuiteTool) {
  return {
    type: 'function' as const,
    function: {
      name,
      description: `The tool ${name}.`,
      parameters: { type: 'object' as const, properties: { text: { type: 'string' } } },
      parse: (text: string) => parameters.parse(JSON.parse(text)),
      function: (args: { text: string }, runner: { controller: AbortController }) =>
        run(args, runner.controller.signal),
    },
  };
}

/** Messages with which a chat starts. */
function firstMessages({ userText = 'go', systemText }: Scenario): ChatCompletionMessageParam[] {
  const system = systemText === undefined ? [] : [{ role: 'system' as const, content: systemText }];
  return [...system, { role: 'user', content: userText }];
}

/** Runs a turn of a conversation, and returns its last text and all messages. */
type RunTurn<Message> = (
  client: OpenAI,
  scenario: Scenario,
  messages: readonly Message[],
) => Promise<{ readonly text: string | null; readonly messages: readonly Message[] }>;

const runToolsTurn: RunTurn<ChatCompletionMessageParam> = async (client, scenario, messages) => {
  const { adapter, isInstalledTwice, isStreamed, signal, sessionId, ownHook } = scenario;
  const options = { sessionId, ...adapter };
  const own = scenario.tools.map(runnableTool);
  const once = adapter ? actlog(own, options) : own;
  const tools = adapter && isInstalledTwice ? actlog(once, options) : once;
  const body = { model: 'scripted', messages: [...messages], tools };
  const given = signal && { signal };
  const runner = isStreamed
    ? client.chat.completions.runTools({ ...body, stream: true }, given)
    : client.chat.completions.runTools(body, given);
  const listen = runner.on.bind(runner) as (
    event: string,
    listener: (call: { name: string }) => void,
  ) => void;
  if (ownHook) listen('functionToolCall', ({ name }) => ownHook(name));
  return { text: await runner.finalContent(), messages: runner.messages };
};

/** The SDK's own loop. */
export const runTools: Loop = async (client, scenario) =>
  (await runToolsTurn(client, scenario, firstMessages(scenario))).text;

function functionsOf(tools: readonly SuiteTool[]) {
  return Object.fromEntries(
    tools.map(({ name, run }) => [
      name,
      (args: unknown, { signal }: { readonly signal?: AbortSignal | undefined }) =>
        run(parameters.parse(args), signal),
    ]),
  );
}

/** Returns the result of a call in a loop without the adapter. */
async function resultByHand(name: string, text: string, { tools, signal }: Scenario): Promise<string> {
  try {
    const run = functionsOf(tools)[name];
    if (!run) throw new Error(`There is no tool named ${JSON.stringify(name)}.`);
    return await run(JSON.parse(text), { signal });
  } catch (error) {
    return `Error: ${(error as Error).message}`;
  }
}

function callRunnerOf({ tools, adapter, sessionId, isInstalledTwice }: Scenario) {
  const options = { sessionId, ...adapter };
  if (!isInstalledTwice) return actlog.callRunner(functionsOf(tools), options);
  const inner = Object.entries(functionsOf(tools)).map(([name, run]) => ({
    tool: { name },
    execute: (args: unknown) => run(args, {}),
  }));
  const twice = actlog(inner, options).map(({ tool, execute }) => [tool.name, execute] as const);
  return actlog.callRunner(Object.fromEntries(twice), options);
}

/** A manual loop over Chat Completions. */
const chatTurn: RunTurn<ChatCompletionMessageParam> = async (client, scenario, given) => {
  const { adapter, isStreamed, signal } = scenario;
  const runCalls = adapter && callRunnerOf(scenario);
  const messages = [...given];
  while (true) {
    const body = { model: 'scripted', messages };
    const completion = isStreamed
      ? await client.chat.completions.stream(body, signal && { signal }).finalChatCompletion()
      : await client.chat.completions.create(body, signal && { signal });
    const [{ message }] = completion.choices as [(typeof completion.choices)[number]];
    const results = runCalls
      ? await runCalls(completion, { signal, messages })
      : await Promise.all(
          (message.tool_calls ?? []).map(async (call) => ({
            role: 'tool' as const,
            tool_call_id: call.id,
            content:
              call.type === 'function'
                ? await resultByHand(call.function.name, call.function.arguments, scenario)
                : '',
          })),
        );
    messages.push(message, ...results);
    if (results.length === 0) return { text: message.content, messages };
  }
};

/** A manual loop over the Responses API. */
const responsesTurn: RunTurn<ResponseInputItem> = async (client, scenario, given) => {
  const { adapter, isStreamed, signal, systemText } = scenario;
  const runCalls = adapter && callRunnerOf(scenario);
  const input = [...given];
  while (true) {
    const body = { model: 'scripted', input, ...(systemText !== undefined && { instructions: systemText }) };
    const response = isStreamed
      ? await client.responses.stream(body, signal && { signal }).finalResponse()
      : await client.responses.create(body, signal && { signal });
    const requested = response.output.flatMap((item) => (item.type === 'function_call' ? item : []));
    const results = runCalls
      ? await runCalls(response, { signal, messages: input })
      : await Promise.all(
          requested.map(async ({ call_id, name, arguments: text }) => ({
            type: 'function_call_output' as const,
            call_id,
            output: await resultByHand(name, text, scenario),
          })),
        );
    input.push(...(response.output as ResponseInputItem[]), ...results);
    if (results.length === 0) return { text: response.output_text, messages: input };
  }
};

/** Runs a chat whose messages are stored as JSON. */
async function chatBy<Message>(runTurn: RunTurn<Message>, { tool, texts, adapter }: Chat): Promise<void> {
  const turns = texts.map((text) => [{ name: tool.name, text: JSON.stringify({ text }) }]);
  const { client } = clientOf(turns.flatMap((calls) => [{ calls }, {}])); // after its call it says `done`
  const scenario = { tools: [tool], turns: [], adapter, sessionId: '' };
  let messages: readonly Message[] = [];
  for (const text of texts) {
    const earlier: Message[] = JSON.parse(JSON.stringify(messages));
    const question = { role: 'user', content: text } as Message;
    ({ messages } = await runTurn(client, scenario, [...earlier, question]));
  }
}

const identity = { framework: 'openai', sdk: `@actlog/openai/${version}` };
const abilities: Abilities = {
  ...fullAbilities,
  changes: 'noticed',
  hasOwnHooks: false,
  hasSession: false,
  maxDenials: 'caller',
  origins: { user: true, system: true, results: true },
};

/** `openai` 5 has `runTools` abort without the reason of the caller's signal. */
const timedOut = VERSION.startsWith('5.') ? 499 : 408;

/** The tools of `runTools`. */
export const runToolsHarness: AdapterHarness = {
  ...identity,
  hook: '`runTools({ tools: actlog(tools) })`',
  abilities: {
    ...abilities,
    unknownTool: 'unseen',
    timedOut,
    hasOwnHooks: true,
    maxDenials: 10,
    changes: true,
  },
  run: (scenario) => ended(scenario, runTools),
  chat: (chat) => chatBy(runToolsTurn, chat),
};

/** A loop over Chat Completions with the adapter's helper. */
export const chatRunnerHarness: AdapterHarness = {
  ...identity,
  hook: '`actlog.callRunner(functions)`, Chat Completions',
  abilities,
  run: (scenario) =>
    ended(scenario, async (client) => (await chatTurn(client, scenario, firstMessages(scenario))).text),
  chat: (chat) => chatBy(chatTurn, chat),
};

/** A loop over the Responses API with the adapter's helper. */
export const responsesRunnerHarness: AdapterHarness = {
  ...identity,
  hook: '`actlog.callRunner(functions)`, Responses',
  abilities,
  run: (scenario) =>
    ended(scenario, async (client) => {
      const input = [{ role: 'user' as const, content: scenario.userText ?? 'go' }];
      return (await responsesTurn(client, scenario, input)).text;
    }),
  chat: (chat) => chatBy(responsesTurn, chat),
};
