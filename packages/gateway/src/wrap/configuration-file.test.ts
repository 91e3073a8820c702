import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'jsonc-parser';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfigurationFile } from './change-configuration.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'actlog-wrap-'));
  path = join(folder, 'mcp.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

const options = { options: ['--guard', 'enforce'], variables: { ACTLOG_API_KEY: 'al_test_1' } };

/** Placeholder that VS Code replaces. */
const token = '$'.concat('{input:token}');

const claude = `{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/data"]},
    "memory": {
      "command": "uvx",
      "env": { "TOKEN": "t" }
    }
  }
}`;

const vscode = `\uFEFF// servers of the team\r
{\r
\t"inputs": [{ "type": "promptString", "id": "token" }],\r
\t"servers": {\r
\t\t"github": {\r
\t\t\t// sign in first\r
\t\t\t"type": "http",\r
\t\t\t"url": "https://mcp.example.com/mcp",\r
\t\t\t"headers": { "Authorization": "Bearer ${token}" }, // from the input\r
\t\t},\r
\t\t"old": { "type": "sse", "url": "https://mcp.example.com/sse" },\r
\t\t"files": { "type": "stdio", "command": "node", "args": ["server.js"], "envFile": ".env" },\r
\t},\r
}\r
`;

function wrap(names?: readonly string[]) {
  const file = new ConfigurationFile(path);
  const changed = file.wrapped(names ?? file.names, options);
  file.writeWrapped(changed);
  return changed.servers;
}

function unwrap(names?: readonly string[]) {
  const file = new ConfigurationFile(path);
  const changed = file.unwrapped(names ?? file.names);
  file.writeUnwrapped(changed);
  return changed.servers;
}

function servers(): Record<string, { command?: string; args?: string[]; env?: Record<string, string> }> {
  const { mcpServers, servers } = parse(readFileSync(path, 'utf8').replace('\uFEFF', ''));
  return mcpServers ?? servers;
}

test('puts the gateway in front of the command of each server, and keeps its environment', () => {
  writeFileSync(path, claude);
  wrap();
  expect(servers()).toEqual({
    files: {
      command: 'npx',
      args: [
        '-y',
        'actlog',
        'gateway',
        '--guard',
        'enforce',
        '--',
        'npx',
        '-y',
        '@modelcontextprotocol/server-filesystem',
        '/data',
      ],
      env: { ACTLOG_API_KEY: 'al_test_1' },
    },
    memory: {
      command: 'npx',
      args: ['-y', 'actlog', 'gateway', '--guard', 'enforce', '--', 'uvx'],
      env: { TOKEN: 't', ACTLOG_API_KEY: 'al_test_1' },
    },
  });
});

test('puts the address of an HTTP server into the arguments, and its headers into the environment', () => {
  writeFileSync(path, vscode);
  expect(wrap()).toEqual([
    { name: 'github', outcome: 'wrapped' },
    { name: 'old', outcome: 'unchanged', reason: expect.stringContaining('sse') },
    { name: 'files', outcome: 'wrapped' },
  ]);
  expect(servers().github).toEqual({
    type: 'stdio',
    command: 'npx',
    args: ['-y', 'actlog', 'gateway', '--guard', 'enforce', '--url', 'https://mcp.example.com/mcp'],
    env: { ACTLOG_API_KEY: 'al_test_1', ACTLOG_GATEWAY_HEADERS: `Authorization: Bearer ${token}` },
  });
});

test.each([
  ['Claude Desktop', claude],
  ['VS Code', vscode],
  ['one line', '{"mcpServers": {"a": {"command": "a"},  "b": {"url": "https://b.example"}}, "theme":"dark"}'],
])('restores exactly the earlier bytes of a configuration of %s', (_client, text) => {
  writeFileSync(path, text);
  wrap();
  expect(readFileSync(path, 'utf8')).not.toBe(text);
  expect(readFileSync(`${path}.before-actlog`, 'utf8')).toBe(text);
  unwrap();
  expect(readFileSync(path, 'utf8')).toBe(text);
  expect(existsSync(`${path}.before-actlog`)).toBe(false);
});

test('keeps comments, order, indentation and line endings', () => {
  writeFileSync(path, vscode);
  wrap();
  const text = readFileSync(path, 'utf8');
  expect(text.startsWith('\uFEFF// servers of the team\r\n{\r\n\t"inputs"')).toBe(true);
  expect(text).toContain('// sign in first');
  expect(text.replaceAll('\r\n', '')).not.toContain('\n');
  expect(Object.keys(servers())).toEqual(['github', 'old', 'files']);
});

test('changes nothing when run twice', () => {
  writeFileSync(path, claude);
  wrap();
  const once = readFileSync(path, 'utf8');
  expect(wrap()).toEqual([
    { name: 'files', outcome: 'unchanged', reason: 'it is wrapped already' },
    { name: 'memory', outcome: 'unchanged', reason: 'it is wrapped already' },
  ]);
  expect(readFileSync(path, 'utf8')).toBe(once);
  unwrap();
  unwrap();
  expect(readFileSync(path, 'utf8')).toBe(claude);
});

test('wraps and unwraps one server, and another one later', () => {
  writeFileSync(path, claude);
  wrap(['memory']);
  expect(servers().files?.args).not.toContain('actlog');
  wrap(['files']);
  unwrap(['memory']);
  expect(servers().files?.args).toContain('actlog');
  expect(servers().memory).toEqual({ command: 'uvx', env: { TOKEN: 't' } });
  unwrap();
  expect(readFileSync(path, 'utf8')).toBe(claude);
});

test('keeps what the user changed after wrapping', () => {
  writeFileSync(path, claude);
  wrap();
  const edited = readFileSync(path, 'utf8').replace('Ctrl+Space', 'Alt+Space');
  writeFileSync(path, edited);
  unwrap();
  expect(readFileSync(path, 'utf8')).toBe(claude.replace('Ctrl+Space', 'Alt+Space'));
});

test('restores the servers from their arguments if the backup is lost', () => {
  writeFileSync(path, vscode);
  wrap();
  rmSync(`${path}.before-actlog`);
  unwrap();
  expect(servers()).toEqual({
    github: {
      type: 'http',
      url: 'https://mcp.example.com/mcp',
      headers: { Authorization: `Bearer ${token}` },
    },
    old: { type: 'sse', url: 'https://mcp.example.com/sse' },
    files: { type: 'stdio', command: 'node', args: ['server.js'], envFile: '.env' },
  });
});

test('keeps the permissions of a file, and follows a link to it', () => {
  const target = join(folder, 'dotfiles.json');
  writeFileSync(target, claude);
  chmodSync(target, 0o600);
  symlinkSync(target, path);
  wrap();
  expect(readFileSync(target, 'utf8')).toContain('actlog');
  expect(statSync(target).mode & 0o777).toBe(0o600);
  unwrap();
  expect(readFileSync(target, 'utf8')).toBe(claude);
});

test.each([
  ['{"mcpServers": {', /mcp\.json is not valid JSON .* in line 1/],
  ['{"theme": "dark"}', /mcp\.json has no servers: it needs an object "mcpServers"/],
])('rejects a file that is no configuration: %s', (text, message) => {
  writeFileSync(path, text);
  expect(() => new ConfigurationFile(path)).toThrow(message);
  expect(readFileSync(path, 'utf8')).toBe(text);
});

test('names a file that does not exist', () => {
  expect(() => new ConfigurationFile(path)).toThrow(`${path} does not exist`);
});

test('writes a configuration with the key for its owner only, and reads one in UTF-16', () => {
  writeFileSync(path, `\uFEFF${claude}`, 'utf16le');
  chmodSync(path, 0o644);
  wrap();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(parse(readFileSync(path, 'utf8')).mcpServers.files.env).toEqual({ ACTLOG_API_KEY: 'al_test_1' });
});

test('follows no link at the place of its temporary file', () => {
  writeFileSync(path, claude);
  const target = join(folder, 'target');
  symlinkSync(target, `${path}.${process.pid}.new`);
  wrap();
  expect(existsSync(target)).toBe(false);
});
