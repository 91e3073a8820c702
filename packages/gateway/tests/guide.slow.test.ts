import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'jsonc-parser';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { officialServer, RawGateway, textOf } from './raw-gateway.ts';

const guide = readFileSync(new URL('../../../docs/gateway.md', import.meta.url), 'utf8');
const bin = fileURLToPath(new URL('../../cli/src/bin.ts', import.meta.url));

let home: string;
let service: RawGateway | undefined;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'actlog-guide-'));
});
afterEach(async () => {
  service?.kill('SIGTERM');
  await service?.exit;
  rmSync(home, { recursive: true, force: true });
});

/** Returns the shell commands below a heading of the guide. */
function commandsOf(heading: string): string[] {
  const section = guide.split('\n## ').find((part) => part.startsWith(heading));
  if (section === undefined) throw new Error(`The guide has no heading ${heading}.`);
  return [...section.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, code = '']) => code.trim().split('\n'));
}

/** Creates a home with the configuration of a client and with `npx actlog`, as if it were installed. */
function createHome(): {
  readonly env: Record<string, string>;
  readonly config: string;
  readonly untouched: string;
} {
  const folder = join(home, 'bin');
  mkdirSync(folder);
  const npx = join(folder, 'npx');
  const node = `"${process.execPath}" --conditions=@actlog/source --disable-warning=ExperimentalWarning`;
  writeFileSync(
    npx,
    `#!/bin/sh\n[ "$1" = "-y" ] && shift\n[ "$1" = "actlog" ] || exit 127\nshift\nexec ${node} "${bin}" "$@"\n`,
  );
  chmodSync(npx, 0o755);
  const config = join(home, '.config', 'Claude', 'claude_desktop_config.json');
  mkdirSync(dirname(config), { recursive: true });
  const data = join(home, 'data');
  mkdirSync(data);
  const [command = '', ...args] = officialServer('filesystem', data);
  const untouched = `${JSON.stringify({ mcpServers: { files: { command, args } } }, undefined, 2)}\n`;
  writeFileSync(config, untouched);
  const { NODE_COMPILE_CACHE = '' } = process.env;
  const env = {
    HOME: home,
    PATH: `${folder}${delimiter}${process.env.PATH}`,
    NODE_COMPILE_CACHE,
    ACTLOG_SPOOL_DIR: join(home, 'spool'),
  };
  return { env, config, untouched };
}

/** Runs a line in a shell, and returns what it prints. */
async function shell(line: string, env: Record<string, string>): Promise<string> {
  const child = spawn('sh', ['-c', line], { env, cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once('close', resolve);
  expect(await promise, output).toBe(0);
  return output;
}

/** Finds a value that the service printed. */
function printed(pattern: RegExp, output: string): string {
  const [, value = ''] = pattern.exec(output) ?? [];
  expect(value, output).not.toBe('');
  return value;
}

test.runIf(process.platform === 'linux')(
  'leads from an untouched configuration to a held call, and back',
  async () => {
    const { env, config, untouched } = createHome();
    const [serve = ''] = commandsOf('1. ');
    // The same command with a free port, because the machine may run another service.
    service = RawGateway.spawn({ ...env }, ['sh', '-c', `cd "${home}" && exec ${serve} --port 0`]);
    const started = service;
    await started.until(
      () => /admin\s+al_test_\S+/.test(output()) && /export ACTLOG_API_KEY=\S+/.test(output()),
    );
    function output(): string {
      return started.output.toString() + started.stderr;
    }
    const exported = commandsOf('2. ').map((line) => line.slice('export '.length, line.indexOf('=')));
    expect(exported).toEqual(['ACTLOG_BASE_URL', 'ACTLOG_API_KEY', 'ACTLOG_ADMIN_KEY']);
    const variables = {
      ...env,
      ACTLOG_BASE_URL: printed(/export ACTLOG_BASE_URL=(\S+)/, output()),
      ACTLOG_API_KEY: printed(/export ACTLOG_API_KEY=(\S+)/, output()),
      ACTLOG_ADMIN_KEY: printed(/admin\s+(al_test_\S+)/, output()),
    };
    for (const line of commandsOf('3. ')) await shell(line, variables);

    const [print = '', wrap = ''] = commandsOf('4. ');
    const shown = await shell(print, variables);
    expect(shown).toContain('"gateway"');
    expect(shown).not.toContain(variables.ACTLOG_API_KEY);
    expect(readFileSync(config, 'utf8')).toBe(untouched);
    await shell(wrap, variables);

    // The client starts its server, with no variables but those of the desktop and of the configuration.
    const { mcpServers } = parse(readFileSync(config, 'utf8'));
    const { command, args, env: own } = mcpServers.files;
    const server = RawGateway.spawn({ ...env, ...own }, [command, ...args]);
    await server.initialize('claude-ai');
    server.call(1, 'write_file', { path: join(home, 'data', 'note.txt'), content: 'written' });
    const [watch = ''] = commandsOf('5. ');
    const watcher = RawGateway.spawn(variables, ['sh', '-c', `exec env ${watch}`]);
    await watcher.until(() => watcher.lines.length > 0);
    const held = JSON.parse(watcher.lines[0] ?? '');
    expect(held.action.toolName).toBe('write_file');
    expect(held.action.arguments).toEqual({ path: join(home, 'data', 'note.txt') });
    watcher.kill('SIGTERM');
    await shell(`ACTLOG_API_KEY=$ACTLOG_ADMIN_KEY npx actlog guardian approve ${held.id}`, variables);
    expect(textOf(await server.message(({ id }) => id === 1))).toContain('Successfully wrote');
    expect(readFileSync(join(home, 'data', 'note.txt'), 'utf8')).toBe('written');
    await server.end();
    const [, list = ''] = commandsOf('5. ');
    expect(await shell(list, variables)).toContain('claude-ai');

    for (const line of commandsOf('6. ')) await shell(line, variables);
    expect(readFileSync(config, 'utf8')).toBe(untouched);
  },
);
