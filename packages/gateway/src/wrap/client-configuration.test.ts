import { expect, test } from 'vitest';
import { configurationPath } from './change-configuration.ts';

const mac = { platform: 'darwin', home: '/Users/a', env: {} } as const;
const linux = { platform: 'linux', home: '/home/a', env: {} } as const;
const windows = {
  platform: 'win32',
  home: 'C:\\Users\\a',
  env: { APPDATA: 'C:\\Users\\a\\AppData\\Roaming' },
} as const;

test.each([
  ['claude-desktop', mac, '/Users/a/Library/Application Support/Claude/claude_desktop_config.json'],
  ['claude-desktop', windows, 'C:\\Users\\a\\AppData\\Roaming\\Claude\\claude_desktop_config.json'],
  ['claude-desktop', linux, '/home/a/.config/Claude/claude_desktop_config.json'],
  ['cursor', mac, '/Users/a/.cursor/mcp.json'],
  ['cursor', windows, 'C:\\Users\\a\\.cursor\\mcp.json'],
  ['vscode', mac, '/Users/a/Library/Application Support/Code/User/mcp.json'],
  ['vscode', windows, 'C:\\Users\\a\\AppData\\Roaming\\Code\\User\\mcp.json'],
  ['vscode', { ...linux, env: { XDG_CONFIG_HOME: '/config' } }, '/config/Code/User/mcp.json'],
  ['./.vscode/mcp.json', linux, './.vscode/mcp.json'],
])('finds the configuration of %s', (target, machine, path) => {
  expect(configurationPath(target, machine)).toBe(path);
});
