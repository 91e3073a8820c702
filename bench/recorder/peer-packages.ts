import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Other recorders for LangChain's callbacks, by their names in `peers.mjs`. */
export const peerNames = ['langfuse', 'openinference', 'langsmith'] as const;

/** Other recorders for any framework. */
export const allPeerNames = [...peerNames, 'agentops'] as const;

/** Installs the other recorders, which the default install omits. Returns `true` if they are available. */
export function ensurePeers(): boolean {
  const folder = join(import.meta.dirname, '..', 'peers');
  if (!existsSync(join(folder, 'node_modules'))) {
    console.error('Installing the other recorders into bench/peers, once …');
  }
  // Always, because their versions may have changed; it takes a second if they are up to date.
  const args = ['--ignore-workspace', '--ignore-scripts', '--config.strict-dep-builds=false'];
  const { status } = spawnSync('pnpm', ['install', '--frozen-lockfile', '--silent', ...args], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) console.error('They could not be installed: what follows is without them.');
  return status === 0;
}
