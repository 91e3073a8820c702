import { hashArguments } from '@actlog/recorder';
import { expect } from 'vitest';
import { type AdapterCase, bare, comparable, echoes, suiteTools } from '../adapter-case.ts';

/** Errors of what a tool itself calls: a schema, a request that it aborts, a server of MCP, and a framework. */
const innerErrors: readonly (() => Error)[] = [
  () => named('$ZodError', 'The response of the shop does not match.'),
  () => named('ZodError', 'The response of the shop does not match.'),
  () => new DOMException('The tool gave up a request.', 'AbortError'),
  () => Object.assign(new Error('MCP error -32602: Tool find not found'), { code: -32602 }),
  () => Object.assign(new Error('MCP error -32602: Invalid arguments for tool find: id'), { code: -32602 }),
  () => Object.assign(new Error('MCP error -32601: Method not found'), { code: -32601 }),
  () => named('NoSuchToolError', 'The inner agent has no such tool.'),
  () => named('InvalidToolInputError', 'The inner agent got the input wrong.'),
];

function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

/** Cases about recording, which must not affect the agent. */
export const recordingCases: readonly AdapterCase[] = [
  {
    name: 'records a call in its session, and leaves the result alone',
    async check({ harness, service, sessionId }) {
      const recorder = service.recorder();
      const scenario = { tools: suiteTools().all, turns: [echoes('hi')], sessionId, adapter: { recorder } };
      const ending = await harness.run(scenario);
      expect(comparable(ending)).toEqual(comparable(await bare(harness, scenario)));
      expect(ending.toolResults).toEqual([{ text: 'echo: hi', isError: false }]);
      expect(await service.events(sessionId)).toMatchObject([{ sessionId, toolName: 'echo', status: 200 }]);
    },
  },
  {
    name: 'says of itself who it is',
    async check({ harness, service, sessionId }) {
      const seen: unknown[] = [];
      const recorder = service.recorder();
      const adapted = Object.create(recorder, {
        forAdapter: {
          value: (...args: Parameters<typeof recorder.forAdapter>) => {
            seen.push(args[0]);
            return recorder.forAdapter(...args);
          },
        },
      });
      await harness.run({
        tools: suiteTools().all,
        turns: [echoes('x')],
        sessionId,
        adapter: { recorder: adapted },
      });
      expect(seen).toContainEqual(
        expect.objectContaining({ framework: harness.framework, sdk: harness.sdk }),
      );
    },
  },
  {
    name: 'keeps the run as it is when a tool throws, and records the status',
    async check({ harness, service, sessionId }) {
      const recorder = service.recorder();
      const turns = [[{ toolName: 'fail', arguments: { text: 'x' } }]];
      const scenario = { tools: suiteTools().all, turns, sessionId, adapter: { recorder } };
      const recorded = await harness.run(scenario);
      expect(comparable(recorded)).toEqual(comparable(await bare(harness, scenario)));
      expect(await service.events(sessionId)).toMatchObject([
        { toolName: 'fail', status: harness.abilities.thrown },
      ]);
    },
  },
  {
    name: "does not take an error from inside a tool for the model's or the caller's",
    appliesTo: ({ knowsReached }) => knowsReached,
    async check({ harness, service, sessionId }) {
      const tools = innerErrors.map((error, place) => ({
        name: `inner${place}`,
        run: async () => {
          throw error();
        },
      }));
      for (const { name } of tools) {
        const turns = [[{ toolName: name, arguments: { text: 'x' } }]];
        await harness.run({ tools, turns, sessionId, adapter: { recorder: service.recorder() } });
      }
      const events = await service.events(sessionId);
      const statuses = Object.fromEntries(events.map(({ toolName, status }) => [toolName, status]));
      expect(statuses).toEqual(Object.fromEntries(tools.map(({ name }) => [name, 500])));
    },
  },
  {
    name: 'records three calls of one turn, each with its own arguments',
    async check({ harness, service, sessionId }) {
      const texts = ['a', 'b', 'c'];
      const recorder = service.recorder();
      const ending = await harness.run({
        tools: suiteTools().all,
        turns: [echoes(...texts)],
        sessionId,
        adapter: { recorder },
      });
      expect(ending.toolResults.map(({ text }) => text)).toEqual(['echo: a', 'echo: b', 'echo: c']);
      const events = await service.storedEvents(sessionId);
      const hashes = events.map(({ payload }) => String(payload?.argumentsHash));
      const expected = await Promise.all(texts.map((text) => hashArguments({ text })));
      expect(hashes.sort()).toEqual(expected.sort());
    },
  },
  {
    name: 'knows arguments that do not fit the tool, as far as the framework lets it',
    async check({ harness, service, sessionId }) {
      const recorder = service.recorder();
      const turns = [[{ toolName: 'echo', arguments: { text: 5 } }]];
      const scenario = { tools: suiteTools().all, turns, sessionId, adapter: { recorder } };
      const recorded = await harness.run(scenario);
      expect(comparable(recorded)).toEqual(comparable(await bare(harness, scenario)));
      const { invalidArguments } = harness.abilities;
      const expected = invalidArguments === 'unseen' ? [] : [{ toolName: 'echo', status: invalidArguments }];
      expect(await service.events(sessionId)).toMatchObject(expected);
    },
  },
  {
    name: 'knows calls of tools that are not there, as far as the framework lets it',
    async check({ harness, service, sessionId }) {
      const recorder = service.recorder();
      const turns = [[{ toolName: 'nowhere', arguments: {} }]];
      const scenario = { tools: suiteTools().all, turns, sessionId, adapter: { recorder } };
      const recorded = await harness.run(scenario);
      expect(comparable(recorded)).toEqual(comparable(await bare(harness, scenario)));
      const { unknownTool } = harness.abilities;
      const expected = unknownTool === 'unseen' ? [] : [{ toolName: 'nowhere', status: unknownTool }];
      expect(await service.events(sessionId)).toMatchObject(expected);
    },
  },
  {
    name: 'records the same when the run is streamed',
    appliesTo: ({ streams }) => streams,
    async check({ harness, service, sessionId }) {
      const recorder = service.recorder();
      const scenario = {
        tools: suiteTools().all,
        turns: [echoes('s'), echoes('t')],
        sessionId,
        adapter: { recorder },
        isStreamed: true,
      };
      const recorded = await harness.run(scenario);
      expect(comparable(recorded)).toEqual(comparable(await bare(harness, scenario)));
      expect(recorded.toolResults.map(({ text }) => text)).toEqual(['echo: s', 'echo: t']);
      expect(await service.events(sessionId)).toMatchObject([{ status: 200 }, { status: 200 }]);
    },
  },
  {
    name: "leaves the user's own hooks in their place",
    appliesTo: ({ hasOwnHooks }) => hasOwnHooks,
    async check({ harness, service, sessionId }) {
      const heard: string[] = [];
      const scenario = {
        tools: suiteTools().all,
        turns: [echoes('x')],
        sessionId,
        adapter: { recorder: service.recorder() },
        ownHook: (toolName: string) => heard.push(toolName),
      };
      await harness.run(scenario);
      expect(heard).toEqual(['echo']);
      expect(await service.events(sessionId)).toHaveLength(1);
    },
  },
];
