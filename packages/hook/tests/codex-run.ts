import { spawn } from 'node:child_process';
import { mkdirSync, realpathSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';
import { Codex } from '@openai/codex-sdk';
import { type InstallHookOptions, installHook } from '../src/index.ts';
import { actlogScript } from './actlog-script.ts';

/** A call of the model. */
export type CodexCall = readonly [tool: string, args: Record<string, unknown>];

/** A run of the real Codex, whose model is scripted. */
export interface CodexRun {
  /** Variables of the process, with its home. */
  readonly environment: Record<string, string>;
  readonly turns: readonly (readonly CodexCall[])[];
  readonly hook: InstallHookOptions;
  readonly onSession?: (sessionId: string) => void;
}

/** End of a run. */
export interface EndedCodexRun {
  readonly sessionId: string;
  /** Results of tools that the model was sent, by the ids of the calls, such as `call_0_1`. */
  readonly results: ReadonlyMap<string, string>;
}

interface ModelRequest {
  readonly input: readonly { readonly type: string; readonly call_id?: string; readonly output?: unknown }[];
}

/** Settings without which Codex connects to its service, and to GitHub for plugins. */
const settings = {
  analytics: { enabled: false },
  features: { apps: false, plugins: false, remote_plugin: false },
};

/** Returns `true` if Codex is installed: its binary is an optional part of the package. */
export function codexRuns(): boolean {
  try {
    new Codex();
    return true;
  } catch {
    return false;
  }
}

/** Runs Codex by its SDK, with the hook in its settings and trusted there. */
export async function runCodex(run: CodexRun): Promise<EndedCodexRun> {
  const { environment, turns, hook, onSession } = run;
  const home = String(environment.HOME);
  mkdirSync(join(home, '.codex'));
  installHook('codex', { homeFolder: home, script: actlogScript, ...hook });
  await trustHooks(environment, home);
  const results = new Map<string, string>();
  let turn = 0;
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    // Codex prefers a WebSocket. This status makes it use HTTP.
    if (request.method === 'GET') return response.writeHead(426).end();
    const { input } = (await json(request)) as ModelRequest;
    for (const { type, call_id, output } of input) {
      if (type.endsWith('_output') && call_id) results.set(call_id, JSON.stringify(output));
    }
    return sendTurn(response, turn++, turns);
  };
  const model = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
  const { port } = model.address() as AddressInfo;
  try {
    const codex = new Codex({
      baseUrl: `http://127.0.0.1:${port}/v1`,
      apiKey: 'none',
      env: environment,
      config: settings,
    });
    const thread = codex.startThread({
      workingDirectory: home,
      skipGitRepoCheck: true,
      sandboxMode: 'danger-full-access',
      approvalPolicy: 'never',
    });
    for await (const event of (await thread.runStreamed('go')).events) {
      if (event.type === 'thread.started') onSession?.(event.thread_id);
    }
    return { sessionId: String(thread.id), results };
  } finally {
    model.closeAllConnections();
    await new Promise((resolve) => model.close(resolve));
  }
}

/** Sends the calls of a turn as the Responses API does; after the last turn, a text. */
function sendTurn(response: ServerResponse, turn: number, turns: CodexRun['turns']): void {
  const id = `resp_${turn}`;
  const calls = (turns[turn] ?? []).map(([name, args], index) => ({
    type: 'function_call',
    call_id: `call_${turn}_${index}`,
    name,
    arguments: JSON.stringify(args),
  }));
  const done = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] };
  const items = calls.length > 0 ? calls : [done];
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of [
    { type: 'response.created', response: { id } },
    ...items.map((item) => ({ type: 'response.output_item.done', item })),
    { type: 'response.completed', response: { id, usage } },
  ]) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

/** Trusts the installed hooks, with the requests that `/hooks` of Codex sends. */
async function trustHooks(environment: Record<string, string>, folder: string): Promise<void> {
  const sdk = realpathSync(join(import.meta.dirname, '../node_modules/@openai/codex-sdk'));
  const program = createRequire(join(sdk, 'package.json')).resolve('@openai/codex/bin/codex.js');
  const off = ['apps', 'plugins', 'remote_plugin'].flatMap((name) => ['--disable', name]);
  const server = spawn(process.execPath, [program, 'app-server', ...off], {
    env: environment,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => server.once('close', resolve));
  const send = (message: object) => server.stdin.write(`${JSON.stringify(message)}\n`);
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const request = async (method: string, params: object) => {
    send({ id: method, method, params });
    while (true) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`Codex ended without a response to ${method}.`);
      const { id, result, error } = JSON.parse(value);
      if (id === method && error) throw new Error(`${method}: ${JSON.stringify(error)}`);
      if (id === method) return result;
    }
  };
  await request('initialize', { clientInfo: { name: 'actlog', version: '0.0.0' } });
  send({ method: 'initialized' });
  const { data } = await request('hooks/list', { cwds: [folder] });
  const hooks = data.flatMap((place: { hooks: { key: string; currentHash: string }[] }) => place.hooks);
  const value = Object.fromEntries(
    hooks.map(({ key, currentHash }: { key: string; currentHash: string }) => [
      key,
      { trusted_hash: currentHash },
    ]),
  );
  await request('config/batchWrite', {
    edits: [{ keyPath: 'hooks.state', value, mergeStrategy: 'upsert' }],
  });
  server.stdin.end();
  await ended;
}
