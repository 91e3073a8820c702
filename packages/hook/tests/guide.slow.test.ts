import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { MessagesEndpoint } from '../../adapters/claude-agent-sdk/tests/messages-endpoint.ts';
import { actlogScript } from './actlog-script.ts';
import { claudeRuns } from './claude-run.ts';
import { HookService } from './hook-service.ts';

const guide = readFileSync(fileURLToPath(new URL('../../../docs/coding-agents.md', import.meta.url)), 'utf8');
const service = await HookService.start();
afterAll(() => service.close());

/** Returns the commands of a step, as printed. */
function commandsOf(step: string): string[] {
  const section = guide.split(/^###? /m).find((part) => part.startsWith(step)) ?? '';
  return [...section.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) => block.trim().split('\n'));
}

/** Returns the path of Claude Code, which the SDK brings along for this platform. */
function claudePath(): string {
  const resolveFrom = createRequire(import.meta.url);
  const sdk = createRequire(resolveFrom.resolve('@anthropic-ai/claude-agent-sdk'));
  return sdk.resolve(`@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`);
}

/** A terminal of the guide's reader: an empty home, with `actlog` and `claude` installed. */
class Terminal {
  readonly #environment: Record<string, string>;

  constructor(home: string, also: Record<string, string> = {}) {
    const { ACTLOG_BASE_URL: _url, ACTLOG_API_KEY: _key, ...environment } = service.environment(home);
    this.#environment = { ...environment, PATH: `${join(home, 'bin')}:${environment.PATH}`, ...also };
  }

  static home(): string {
    const home = service.newFolder();
    const bin = join(home, 'bin');
    mkdirSync(bin);
    symlinkSync(claudePath(), join(bin, 'claude'));
    writeFileSync(join(bin, 'actlog'), `#!/bin/sh\nexec "${process.execPath}" "${actlogScript}" "$@"\n`);
    chmodSync(join(bin, 'actlog'), 0o755);
    return home;
  }

  start(command: string): ChildProcess {
    const child = spawn('sh', ['-c', `exec ${command}`], {
      env: this.#environment,
      cwd: this.#environment.HOME,
    });
    child.stdin.end();
    return child;
  }

  /** Runs commands, and returns their output. */
  async run(...commands: readonly string[]): Promise<string> {
    const child = spawn('sh', ['-ec', commands.join('\n')], {
      env: this.#environment,
      cwd: this.#environment.HOME,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return text(child.stdout);
  }
}

/** Output of a process that goes on. */
class Output {
  #text = '';

  constructor(child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        this.#text += String(chunk);
      });
    }
  }

  /** Waits for a text, and returns its first group. */
  async find(pattern: RegExp): Promise<string> {
    await expect.poll(() => this.#text).toMatch(pattern);
    return String(pattern.exec(this.#text)?.[1]);
  }
}

describe.runIf(await claudeRuns(service.environment(service.newFolder())))(
  'the guide for coding agents',
  () => {
    test('leads from an empty home to a held call that a person approves', async () => {
      const home = Terminal.home();
      const [install, serve] = commandsOf('1.');
      expect(install).toBe('npm install --global actlog');
      const started = new Terminal(home).start(`${serve} --port 0 --database :memory:`);
      const endpoint = await MessagesEndpoint.start([[{ name: 'Bash', input: { command: 'rm -rf build' } }]]);
      let watching: ChildProcess | undefined;
      try {
        const output = new Output(started);
        const admin = await output.find(/^ {2}admin +(al_test_\S+)/m);
        const url = await output.find(/export (ACTLOG_BASE_URL=\S+)/);
        const key = await output.find(/export (ACTLOG_API_KEY=\S+)/);
        const printed = (line: string) =>
          line.replace(/ACTLOG_BASE_URL=\S+/, url).replace(/ACTLOG_API_KEY=\S+/, key);

        const second = new Terminal(home, {
          ANTHROPIC_BASE_URL: endpoint.url,
          ANTHROPIC_API_KEY: 'no-key',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          DISABLE_AUTOUPDATER: '1',
        });
        const variables = commandsOf('2.').slice(0, 2).map(printed);
        await second.run(...variables, ...commandsOf('2.').slice(2));
        const settings = join(home, '.claude', 'settings.json');
        expect(readFileSync(settings, 'utf8')).toContain(
          'hook claude-code --guard enforce --on-unavailable deny --show-arguments=command',
        );

        const [, , create = '', watch = ''] = commandsOf('3.');
        const approver = new Terminal(home, {
          ACTLOG_BASE_URL: url.replace('ACTLOG_BASE_URL=', ''),
          ACTLOG_API_KEY: admin,
        });
        await approver.run(create);
        watching = approver.start(watch);
        const held = new Output(watching);

        const [prompt = ''] = commandsOf('4.');
        const ended = second.run(...variables, prompt);
        const id = await held.find(/"id":"(pac_\w+)"/);
        await held.find(/("arguments":\{"command":"rm -rf build"\})/);
        // In a terminal, a key press does the same.
        await approver.run(`actlog guardian approve ${id}`);
        expect((await ended).trim()).toBe('done');
        expect(endpoint.toolResults()).toEqual([expect.objectContaining({ isError: false })]);
        const [, list = ''] = commandsOf('4.');
        await expect.poll(() => approver.run(`${list} --jsonl`)).toContain('"agentId":"claude-code"');

        await second.run(...commandsOf('5.'));
        expect(existsSync(settings)).toBe(false);
      } finally {
        watching?.kill();
        started.kill();
        await endpoint.close();
      }
    });
  },
);
