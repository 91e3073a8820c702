import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import { actlog, type Ended } from '../command-line.ts';
import { temporaryFolder } from '../temporary-folder.ts';

let dir: string;

beforeEach(() => {
  dir = temporaryFolder();
});

function write(path: string, content: object | string): void {
  const file = join(dir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
}

function read(path: string): string {
  return readFileSync(join(dir, path), 'utf8');
}

function git(...args: string[]): void {
  execFileSync('git', args, { cwd: dir, stdio: 'ignore' });
}

const url = 'https://actlog.example';

function init(args: readonly string[] = [], env: Record<string, string> = {}): Promise<Ended> {
  return actlog(['init', '--yes', '--base-url', url, ...args], { cwd: dir, env });
}

test('writes the variables, makes git ignore them, and prints the lines to add', async () => {
  git('init');
  write('package.json', { dependencies: { ai: '^7.0.0', '@langchain/core': '1' } });
  const { stdout, stderr, exitCode } = await init([], { ACTLOG_API_KEY: 'al_test_0123456789' });
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  expect(parseEnv(read('.env'))).toEqual({ ACTLOG_BASE_URL: url, ACTLOG_API_KEY: 'al_test_0123456789' });
  expect(statSync(join(dir, '.env')).mode & 0o777).toBe(0o600);
  expect(read('.gitignore')).toBe('.env\n');
  expect(() => git('check-ignore', '.env')).not.toThrow();
  expect(stdout).toContain('npm install @actlog/ai-sdk @actlog/langchain @actlog/recorder\n');
  expect(stdout).toContain("import { actlog } from '@actlog/ai-sdk';\n  const result = await generateText(");
  expect(stdout).toContain("import { actlog } from '@actlog/langchain';\n  actlog.install();");
  expect(stdout).toContain('npx actlog doctor --env-file .env');
  expect(stdout).not.toContain('al_test_0123456789');
});

test('overwrites nothing, and fills in what is empty', async () => {
  git('init');
  write('package.json', {});
  write('.gitignore', 'node_modules');
  const before =
    '# mine\r\nOPENAI_API_KEY=sk-1\r\nACTLOG_BASE_URL=http://127.0.0.1:8787\r\nACTLOG_API_KEY=\r\nLAST=1';
  write('.env', before);
  const first = await init([], { ACTLOG_API_KEY: 'al_test_0123456789' });
  expect(first.stdout).toContain('kept ACTLOG_BASE_URL');
  const after = before.replace('ACTLOG_API_KEY=', 'ACTLOG_API_KEY=al_test_0123456789');
  expect(read('.env')).toBe(after);
  expect(read('.gitignore')).toBe('node_modules\n.env\n');
  const again = await init([], { ACTLOG_API_KEY: 'al_test_another' });
  expect(again.stdout).toContain('kept ACTLOG_BASE_URL and ACTLOG_API_KEY');
  expect(again.stdout).toContain('git ignores .env');
  expect([read('.env'), read('.gitignore')]).toEqual([after, 'node_modules\n.env\n']);
});

test('says how to get a key if there is none', async () => {
  write('package.json', {});
  const { stdout } = await init();
  expect(stdout).toContain("npx actlog keys create my-agent --scopes ingest,read --agents 'AGENT*'");
  expect(read('.env')).toBe(`ACTLOG_BASE_URL=${url}\nACTLOG_API_KEY=\n`);
  expect(stdout).toContain('No framework with an adapter is in package.json.');
  expect(existsSync(join(dir, '.gitignore'))).toBe(false);
});

test('warns about a file that git already tracks', async () => {
  git('init');
  write('package.json', {});
  write('.env', 'A=1\n');
  git('add', '.env');
  expect((await init()).stdout).toContain('git rm --cached .env');
  expect(existsSync(join(dir, '.gitignore'))).toBe(false);
});

test.each([
  ['pnpm-lock.yaml', 'pnpm add'],
  ['yarn.lock', 'yarn add'],
  ['bun.lock', 'bun add'],
  ['package-lock.json', 'npm install'],
])('uses the package manager of %s', async (lockfile, command) => {
  write('package.json', { devDependencies: { openai: '*' } });
  write(lockfile, '');
  expect((await init()).stdout).toContain(`${command} @actlog/openai @actlog/recorder`);
});

test('lists the packages of a monorepo by folder', async () => {
  write('package.json', { packageManager: 'pnpm@12.0.0' });
  write('pnpm-workspace.yaml', 'packages: [apps/*]');
  write('apps/desk/package.json', { dependencies: { genkit: '*', '@actlog/recorder': '*' } });
  write('apps/desk/node_modules/other/package.json', { dependencies: { '@mastra/core': '*' } });
  write('apps/web/package.json', { dependencies: { react: '*' } });
  const { stdout } = await init();
  expect(stdout).toContain('apps/desk\nInstall the package:\n  cd apps/desk && pnpm add @actlog/genkit\n');
  expect(stdout).toContain('const ai = actlog(genkit({ plugins }));');
  expect(stdout).not.toContain('@actlog/mastra');
});

test('offers loops of your own, and OpenTelemetry only where nothing else fits', async () => {
  write('package.json', { dependencies: { ollama: '*', '@opentelemetry/sdk-trace-base': '*' } });
  const { stdout } = await init();
  expect(stdout).toContain("import { actlog } from '@actlog/recorder/loop';");
  expect(stdout).toContain('npm install @actlog/recorder\n');
  expect(stdout).not.toContain('@actlog/opentelemetry');
  write('package.json', { dependencies: { '@opentelemetry/sdk-trace-base': '*' } });
  expect((await init()).stdout).toContain('spanProcessors: [actlog()]');
});

test('points Python projects to OTLP', async () => {
  write('pyproject.toml', '');
  const { stdout, exitCode } = await init();
  expect(exitCode).toBe(0);
  expect(stdout).toContain(`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${url}/otlp/v1/traces`);
  expect(stdout).not.toContain('package.json');
});

test.each<[string, readonly string[], Record<string, string>, string]>([
  ['an invalid address', ['--base-url', 'actlog.example'], {}, 'http or https URL'],
  ['the key of another service', [], { ACTLOG_API_KEY: 'sk-1234' }, 'is not an actlog key'],
  ['a folder without a project', ['--dir', '/'], {}, 'There is no package.json in /'],
])('refuses %s, and writes nothing', async (_what, args, env, message) => {
  write('package.json', {});
  const { stderr, exitCode } = await init(args, env);
  expect({ exitCode, env: existsSync(join(dir, '.env')) }).toEqual({ exitCode: 2, env: false });
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('sk-1234');
});

test('asks nothing without a terminal', async () => {
  write('package.json', {});
  const unknown = await actlog(['init'], { cwd: dir });
  expect(unknown).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Pass --base-url') });
  const unconfirmed = await actlog(['init', '--base-url', url], { cwd: dir });
  expect(unconfirmed).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Add --yes') });
  expect(existsSync(join(dir, '.env'))).toBe(false);
});

test('explains the gateway', async () => {
  const { stdout, exitCode } = await actlog(['init', 'mcp'], { cwd: dir });
  expect(exitCode).toBe(0);
  expect(stdout).toContain('actlog gateway --wrap claude-desktop');
  expect(stdout).toContain('Set ACTLOG_BASE_URL and ACTLOG_API_KEY first');
});

test.each(['claude-code', 'codex', 'gemini-cli', 'cursor', 'copilot'])(
  'installs and removes the hook of %s',
  async (agent) => {
    const args = ['init', agent, '--project', '--dir', dir];
    const env = { HOME: temporaryFolder() };
    const installed = await actlog([...args, '--guard', 'enforce', '--on-unavailable', 'deny'], { env });
    expect(installed.exitCode).toBe(0);
    const [, file = ''] = /installed the hook in (.+)$/m.exec(installed.stdout) ?? [];
    expect(readFileSync(file, 'utf8')).toContain(`hook ${agent} --guard enforce --on-unavailable deny`);
    expect(installed.stderr).toContain('Set ACTLOG_BASE_URL and ACTLOG_API_KEY');
    const removed = await actlog([...args, '--remove'], { env });
    expect(removed.stdout).toContain(`removed the hook from ${file}`);
    expect((await actlog([...args, '--remove'], { env })).stdout).toContain('has no hook of actlog');
  },
);

test('installs a hook in the settings of the user by default', async () => {
  const home = temporaryFolder();
  const { stdout } = await actlog(['init', 'claude-code'], { cwd: dir, env: { HOME: home } });
  expect(stdout).toContain(join(home, '.claude', 'settings.json'));
});

test.each(['utf8', 'utf16le'] as const)(
  'reads files that begin with a byte order mark, and makes the one with the key readable for its owner only: %s',
  async (encoding) => {
    const text = (content: string) => Buffer.from(`\uFEFF${content}`, encoding);
    writeFileSync(join(dir, 'package.json'), text(JSON.stringify({ dependencies: { ai: '^7.0.0' } })));
    writeFileSync(join(dir, '.env'), text('OPENAI_API_KEY=sk-1\n'), { mode: 0o644 });
    const { stdout, exitCode } = await init([], { ACTLOG_API_KEY: 'al_test_0123456789' });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('@actlog/ai-sdk');
    expect(parseEnv(read('.env'))).toEqual({
      OPENAI_API_KEY: 'sk-1',
      ACTLOG_BASE_URL: url,
      ACTLOG_API_KEY: 'al_test_0123456789',
    });
    expect(statSync(join(dir, '.env')).mode & 0o777).toBe(0o600);
  },
);

test('installs the hook of a coding agent in settings with a byte order mark, with the arguments to show', async () => {
  write('.claude/settings.json', '\uFEFF{"model":"opus"}');
  const args = ['init', 'claude-code', '--project', '--dir', dir, '--show-arguments=command,user.name'];
  const { exitCode } = await actlog(args, { cwd: dir, env: {} });
  expect(exitCode).toBe(0);
  const settings = JSON.parse(read('.claude/settings.json'));
  expect(settings.model).toBe('opus');
  expect(JSON.stringify(settings.hooks)).toContain('hook claude-code --show-arguments=command,user.name');
  await actlog(['init', 'claude-code', '--project', '--dir', dir, '--show-arguments'], { cwd: dir, env: {} });
  expect(read('.claude/settings.json')).toMatch(/hook claude-code --show-arguments"/);
});
