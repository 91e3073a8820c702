import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Recorder } from '@actlog/recorder';
import type { CallTool } from './measured-calls.ts';

/** Something to measure: how it calls a tool, and how it is made to deliver. */
export interface Subject {
  readonly call: CallTool;
  readonly flush: () => Promise<unknown>;
}

/** About 200 bytes of JSON, as a model writes them. */
export function argumentsOf(number: number): object {
  return {
    query: `call-${String(number).padStart(6, '0')} weather in Paris tomorrow morning`,
    limit: 10,
    filters: { from: '2026-01-01', to: '2026-02-01', tags: ['a', 'b', 'c'] },
    options: { language: 'en', safe: true, page: 1, note: 'x'.repeat(22) },
  };
}

/** The tool itself: nothing, so that only what is added shows. */
async function tool(): Promise<string> {
  return 'ok';
}

/** A LangChain tool, as far as it is used here. */
interface InvokableTool {
  invoke(input: object, config?: object): Promise<unknown>;
}

/** What `bench/peers/peers.mjs` makes. */
interface Peers {
  createTool(): InvokableTool;
  [peer: string]: (
    url: string,
  ) => Promise<{ callbacks?: unknown[]; flush: () => Promise<unknown> }> | InvokableTool;
}

function recorderAt(url: string, spool: boolean): Recorder {
  return new Recorder({
    apiKey: 'al_test_benchmark',
    baseURL: url,
    agentId: 'benchmark',
    ...(spool ? { spoolDir: mkdtempSync(join(tmpdir(), 'actlog-bench-')) } : { spool: false }),
  });
}

function ours(url: string, spool: boolean, run: (args: object) => Promise<unknown>): Subject {
  const recorder = recorderAt(url, spool);
  return {
    call: (number) => {
      const args = argumentsOf(number);
      const sessionId = `session-${number % 20}`;
      return recorder.toolCall({ toolName: 'search', arguments: args, sessionId }, () => run(args));
    },
    flush: () => recorder.flush(),
  };
}

/** Makes a subject by its name: `bare`, `actlog`, `actlog-memory`, or `langchain-…`. */
export async function createSubject(name: string, url: string): Promise<Subject> {
  if (name === 'bare') return { call: tool, flush: async () => {} };
  if (name === 'actlog') return ours(url, true, tool);
  if (name === 'actlog-memory') return ours(url, false, tool);
  const peers = (await import(new URL('../peers/peers.mjs', import.meta.url).href)) as Peers;
  const invokable = peers.createTool();
  const peer = name.replace('langchain-', '');
  if (peer === 'actlog') return ours(url, true, (args) => invokable.invoke(args));
  if (peer === 'bare')
    return { call: (number) => invokable.invoke(argumentsOf(number)), flush: async () => {} };
  const create = peers[peer] as (
    url: string,
  ) => Promise<{ callbacks?: unknown[]; flush: () => Promise<unknown> }>;
  const { callbacks, flush } = await create(url);
  const config = callbacks ? { callbacks } : undefined;
  return { call: (number) => invokable.invoke(argumentsOf(number), config), flush };
}
