import { homedir } from 'node:os';
import { posix, win32 } from 'node:path';

/** Facts of a machine that decide where clients keep their configuration. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Returns the facts of this machine. */
export function thisMachine(): Machine {
  return { platform: process.platform, home: homedir(), env: process.env };
}

/**
 * Returns the path of a client's configuration: the file itself for anything but the name of a client.
 *
 * Claude Desktop: `claude_desktop_config.json`. Cursor: `~/.cursor/mcp.json`. VS Code: `mcp.json` of the user.
 */
export function configurationPath(target: string, { platform, home, env }: Machine): string {
  const { join } = platform === 'win32' ? win32 : posix;
  const settings = () => {
    if (platform === 'darwin') return join(home, 'Library', 'Application Support');
    if (platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming');
    return env.XDG_CONFIG_HOME || join(home, '.config');
  };
  switch (target) {
    case 'claude-desktop':
      return join(settings(), 'Claude', 'claude_desktop_config.json');
    case 'cursor':
      return join(home, '.cursor', 'mcp.json');
    case 'vscode':
      return join(settings(), 'Code', 'User', 'mcp.json');
    default:
      return target;
  }
}
