import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { AgentName } from './dialects/dialect.ts';

/**
 * Starts a process that delivers what waits in the spool, and leaves it alone: it outlives the hook, and the agent does
 * not wait for it.
 */
export function startFlush(agent: AgentName, spoolFolder: string): void {
  // Written out, because the build replaces these very words where there are no modules.
  const url = import.meta.url;
  const isSource = url.endsWith('.ts');
  const worker = fileURLToPath(new URL(`./flush-worker.${isSource ? 'ts' : 'js'}`, url));
  const flags = isSource ? process.execArgv : [];
  const child = spawn(process.execPath, [...flags, worker, agent, spoolFolder], {
    // The project's folder must stay removable.
    cwd: spoolFolder,
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
  });
  // The event is on disk: the next hook delivers it.
  child.on('error', () => {});
  child.unref();
}
