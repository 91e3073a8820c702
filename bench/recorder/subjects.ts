import { actlog } from '@actlog/langchain';
import { Recorder } from '@actlog/recorder';
import { argumentsOf } from './arguments.ts';
import { leastRecorder } from './least-recorder.ts';
import type { Subject } from './subject.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { toolResult } from './tool-results.ts';

/** Empty tool, so that only the added cost is measured. */
async function tool(): Promise<string> {
  return 'ok';
}

/** The used part of a LangChain tool. */
interface InvokableTool {
  invoke(input: object, config?: object): Promise<unknown>;
}

/** A configured recorder: its hook and a way to deliver. */
interface SetUp {
  /** Callback handlers to pass to each call of LangChain's tool. */
  readonly callbacks?: unknown[];
  /** Calls a tool of another framework, where the recorder does not see LangChain's. */
  readonly call?: (args: Record<string, unknown>) => Promise<unknown>;
  readonly flush: () => Promise<unknown>;
}

/** Exports of `bench/peers/peers.mjs`. */
interface Peers {
  createTool(): InvokableTool;
  [peer: string]: (url: string) => Promise<SetUp> | InvokableTool;
}

/** Subject that does the minimum of any recorder. */
function least(isWritten: boolean): Subject {
  const record = leastRecorder(isWritten);
  return {
    call: async (number) => {
      const result = await tool();
      record(number, argumentsOf(number));
      return result;
    },
    flush: async () => {},
  };
}

function recorderAt(url: string, spool: boolean): Recorder {
  return new Recorder({
    apiKey: 'al_test_benchmark',
    baseURL: url,
    agentId: 'benchmark',
    ...(spool ? { spoolDir: temporaryFolder() } : { spool: false }),
  });
}

function ours(url: string, spool: boolean): Subject {
  const recorder = recorderAt(url, spool);
  return {
    call: (number) => {
      const sessionId = `session-${number % 20}`;
      return recorder.toolCall({ toolName: 'search', arguments: argumentsOf(number), sessionId }, tool);
    },
    flush: () => recorder.flush(),
  };
}

/** Calls with a result of 2 KB, with the origins of arguments or without. */
function oursWithResults(url: string, origins: boolean): Subject {
  const recorder = new Recorder({
    apiKey: 'al_test_benchmark',
    baseURL: url,
    agentId: 'benchmark',
    spoolDir: temporaryFolder(),
    origins,
  });
  return {
    call: (number) => {
      const call = {
        toolName: 'search',
        arguments: argumentsOf(number),
        sessionId: `session-${number % 20}`,
      };
      return recorder.toolCall(call, async () => toolResult(number));
    },
    flush: () => recorder.flush(),
  };
}

/** Our adapter as a callback handler, like the other recorders, or around the tool. */
function oursInLangChain(recorder: Recorder, way: 'handler' | 'tools', plain: InvokableTool): Subject {
  let current = 0;
  const options = { recorder, sessionId: () => `session-${current % 20}` };
  const callbacks = way === 'handler' ? [actlog.handler(options)] : undefined;
  const invokable = callbacks ? plain : (actlog.tools([plain as never], options)[0] as InvokableTool);
  const config = callbacks ? { callbacks } : undefined;
  return {
    call: (number) => {
      current = number;
      return invokable.invoke(argumentsOf(number), config);
    },
    flush: () => recorder.flush(),
  };
}

/** Creates a subject by name: `bare`, `least`, `actlog`, each with `-memory`, `results`, or `langchain-…`. */
export async function createSubject(name: string, url: string): Promise<Subject> {
  if (name === 'bare') return { call: tool, flush: async () => {} };
  if (name === 'least') return least(true);
  if (name === 'least-memory') return least(false);
  if (name === 'actlog') return ours(url, true);
  if (name === 'actlog-memory') return ours(url, false);
  if (name === 'results') return oursWithResults(url, false);
  if (name === 'results-origins') return oursWithResults(url, true);
  const peers = (await import(new URL('../peers/peers.mjs', import.meta.url).href)) as Peers;
  const plain = peers.createTool();
  const peer = name.replace('langchain-', '');
  if (peer === 'actlog') return oursInLangChain(recorderAt(url, true), 'handler', plain);
  if (peer === 'actlog-memory') return oursInLangChain(recorderAt(url, false), 'handler', plain);
  if (peer === 'actlog-tools') return oursInLangChain(recorderAt(url, true), 'tools', plain);
  if (peer === 'bare') return { call: (number) => plain.invoke(argumentsOf(number)), flush: async () => {} };
  const { callbacks, call, flush } = await (peers[peer] as (url: string) => Promise<SetUp>)(url);
  if (call) return { call: (number) => call(argumentsOf(number)), flush };
  const config = callbacks ? { callbacks } : undefined;
  return { call: (number) => plain.invoke(argumentsOf(number), config), flush };
}
