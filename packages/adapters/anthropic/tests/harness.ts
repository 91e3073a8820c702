import type { AdapterHarness, Chat, Ending, Scenario, SuiteTool } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import type Anthropic from '@anthropic-ai/sdk';
import type { Middleware } from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import * as z from 'zod';
import { version } from '../src/anthropic-calls.ts';
import { actlog } from '../src/index.ts';
import { clientOf, toolResultsOf, toolUse } from './model.ts';

const inputSchema = z.object({ text: z.string() });
const params = { model: 'scripted', max_tokens: 100 };

/** Runs an agent with a client of the scripted service and returns its last message. */
export type Loop = (
  client: Anthropic,
  scenario: Scenario,
) => Promise<{ readonly content: readonly { readonly type: string; readonly text?: string }[] }>;

/** Runs a turn of a conversation, to which it adds its messages, and returns the last one. */
type RunTurn = (
  client: Anthropic,
  scenario: Scenario,
  messages: Anthropic.MessageParam[],
) => ReturnType<Loop>;

function firstMessages({ userText = 'go' }: Scenario): Anthropic.MessageParam[] {
  return [{ role: 'user', content: userText }];
}

export async function ended(scenario: Scenario, middleware: Middleware[], loop: Loop): Promise<Ending> {
  const turns = scenario.turns.map((calls) => calls.map((call) => toolUse(call.toolName, call.arguments)));
  const { client, sent } = clientOf(turns, { middleware });
  try {
    const { content } = await loop(client, scenario);
    return { toolResults: toolResultsOf(sent), finalText: content.map(({ text }) => text).join('') };
  } catch (error) {
    return { toolResults: toolResultsOf(sent), error };
  }
}

const runnerTurn: RunTurn = async (client, scenario, messages) => {
  const { tools, adapter, isInstalledTwice, isStreamed = false, signal, sessionId, systemText } = scenario;
  const own = tools.map(({ name, run }) =>
    betaZodTool({
      name,
      description: `The tool ${name}.`,
      inputSchema,
      run: (input, context) => run(input, context?.signal ?? undefined),
    }),
  );
  const once = adapter ? actlog(own, adapter) : own;
  const settings = {
    ...params,
    ...(systemText !== undefined && { system: systemText }),
    messages,
    tools: adapter && isInstalledTwice ? actlog(once, adapter) : once,
  };
  const conversation = sessionId && { openTelemetry: { conversationId: sessionId } };
  const options = { ...conversation, ...(signal && { signal }) };
  const runner = isStreamed
    ? client.beta.messages.toolRunner({ ...settings, stream: true, runToolsEagerly: true }, options)
    : client.beta.messages.toolRunner(settings, options);
  const message = await runner.runUntilDone();
  messages.splice(0, Infinity, ...(runner.params.messages as Anthropic.MessageParam[]));
  return message;
};

/** The SDK's own loop. */
export const toolRunner: Loop = (client, scenario) => runnerTurn(client, scenario, firstMessages(scenario));

/** Runs a manual loop, with the adapter's helper or its own. */
async function handLoop(
  client: Anthropic,
  { tools, isStreamed, signal, systemText }: Scenario,
  messages: Anthropic.MessageParam[],
  runCalls: (message: Anthropic.Message) => Promise<Anthropic.MessageParam | undefined>,
) {
  const offered = tools.map(({ name }) => ({ name, input_schema: { type: 'object' as const } }));
  const system = systemText === undefined ? {} : { system: systemText };
  while (true) {
    const request = { ...params, ...system, messages, tools: offered };
    const options = signal && { signal };
    const message = isStreamed
      ? await client.messages.stream(request, options).finalMessage()
      : await client.messages.create(request, options);
    const results = await runCalls(message);
    messages.push({ role: 'assistant', content: message.content }, ...(results ? [results] : []));
    if (!results) return message;
  }
}

function functionsOf(tools: readonly SuiteTool[]) {
  return Object.fromEntries(
    tools.map(({ name, run }) => [
      name,
      (input: unknown, { signal }: { readonly signal?: AbortSignal | undefined } = {}) =>
        run(inputSchema.parse(input), signal),
    ]),
  );
}

/** Returns the results of a message's calls in a loop without the adapter. */
async function resultsByHand({ content }: Anthropic.Message, { tools, signal }: Scenario) {
  const functions = functionsOf(tools);
  const uses = content.filter((block) => block.type === 'tool_use');
  if (uses.length === 0) return undefined;
  const results = uses.map(async ({ id, name, input }): Promise<Anthropic.ToolResultBlockParam> => {
    const result = { type: 'tool_result' as const, tool_use_id: id };
    try {
      const run = functions[name];
      if (!run) throw new Error(`Tool '${name}' not found`);
      return { ...result, content: await run(input, { signal }) };
    } catch (error) {
      return { ...result, content: `Error: ${(error as Error).message}`, is_error: true };
    }
  });
  return { role: 'user' as const, content: await Promise.all(results) };
}

const callRunnerTurn: RunTurn = (client, scenario, messages) => {
  const { adapter, tools, signal, sessionId, systemText: system } = scenario;
  const runCalls = adapter && actlog.callRunner(functionsOf(tools), { sessionId, ...adapter });
  return handLoop(client, scenario, messages, (message) =>
    runCalls ? runCalls(message, { signal, messages, system }) : resultsByHand(message, scenario),
  );
};

const bareTurn: RunTurn = (client, scenario, messages) =>
  handLoop(client, scenario, messages, (message) => resultsByHand(message, scenario));

/** Runs a chat whose messages are stored as JSON. */
async function chatBy(
  runTurn: RunTurn,
  { tool, texts, adapter }: Chat,
  hasMiddleware: boolean,
): Promise<void> {
  const turns = texts.flatMap((text) => [[toolUse(tool.name, { text })], [{ type: 'text', text: 'done' }]]);
  const scenario = { tools: [tool], turns: [], adapter, sessionId: '' };
  const { client } = clientOf(turns, { middleware: hasMiddleware ? middlewareOf(scenario) : [] });
  let messages: Anthropic.MessageParam[] = [];
  for (const text of texts) {
    messages = JSON.parse(JSON.stringify(messages));
    messages.push({ role: 'user', content: text });
    await runTurn(client, scenario, messages);
  }
}

const origins = { user: true, system: true, results: true };
const identity = { framework: 'anthropic', sdk: `@actlog/anthropic/${version}` };

function middlewareOf({ adapter, isInstalledTwice, ownHook }: Scenario, sessionId?: string): Middleware[] {
  const options = { ...(sessionId !== undefined && { sessionId }), ...adapter, guard: undefined };
  const own: Middleware = async (request, next, { parse }) => {
    const response = await next(request);
    const { content } = await parse<Anthropic.Message>(response);
    for (const block of content) if (block.type === 'tool_use') ownHook?.(block.name);
    return response;
  };
  return [
    ...(adapter ? [actlog.middleware(options)] : []),
    ...(adapter && isInstalledTwice ? [actlog.middleware(options)] : []),
    ...(ownHook ? [own] : []),
  ];
}

/** The tools of a tool runner, and the client's middleware for calls that reach none of them. */
export const toolRunnerHarness: AdapterHarness = {
  ...identity,
  hook: '`tools: actlog(tools)` with `middleware: [actlog.middleware()]`',
  abilities: { ...fullAbilities, origins, changes: 'noticed' },
  run: (scenario) => ended(scenario, middlewareOf(scenario), toolRunner),
  chat: (chat) => chatBy(runnerTurn, chat, true),
};

/** The tools of a tool runner alone. */
export const runnerToolsHarness: AdapterHarness = {
  ...identity,
  hook: '`tools: actlog(tools)`',
  abilities: {
    ...fullAbilities,
    unknownTool: 'unseen',
    hasSession: false,
    origins: { user: false, system: false, results: true },
    changes: 'noticed',
  },
  run: ({ adapter, ...scenario }) => {
    const own = { ...scenario, adapter: adapter && { sessionId: scenario.sessionId, ...adapter } };
    return ended(own, middlewareOf(scenario), toolRunner);
  },
  chat: (chat) => chatBy(runnerTurn, chat, false),
};

/** A manual loop around the adapter's helper. */
export const callRunnerHarness: AdapterHarness = {
  ...identity,
  hook: '`actlog.callRunner(functions)`',
  abilities: {
    ...fullAbilities,
    hasOwnHooks: false,
    hasSession: false,
    maxDenials: 'caller',
    origins,
    changes: 'noticed',
  },
  run: (scenario) => {
    const middleware = scenario.isInstalledTwice ? middlewareOf(scenario, scenario.sessionId) : [];
    return ended(scenario, middleware, (client) => callRunnerTurn(client, scenario, firstMessages(scenario)));
  },
  chat: (chat) => chatBy(callRunnerTurn, chat, false),
};

/** Any loop, with only the client's middleware. */
export const middlewareHarness: AdapterHarness = {
  ...identity,
  hook: '`middleware: [actlog.middleware()]`',
  abilities: {
    ...fullAbilities,
    guards: false,
    holds: false,
    aborts: false,
    goesOnAfterDenial: false,
    invalidArguments: 500,
    thrown: 500,
    hasSession: false,
    maxDenials: 'caller',
    origins,
  },
  run: (scenario) =>
    ended(scenario, middlewareOf(scenario, scenario.sessionId), (client) =>
      bareTurn(client, scenario, firstMessages(scenario)),
    ),
  chat: (chat) => chatBy(bareTurn, chat, true),
};
