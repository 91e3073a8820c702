import { join } from 'node:path';
import type { AgentName } from './agents.ts';
import { digest } from './calls/digest.ts';

/** Folder of all hooks in the spool folder of a tenant. */
export function hookFolder(spoolFolder: string): string {
  return join(spoolFolder, 'hook');
}

/** Folder of an agent's sessions. */
export function agentFolder(spoolFolder: string, agent: AgentName): string {
  return join(hookFolder(spoolFolder), agent);
}

/** Folder of a session's open calls. */
export function sessionFolder(spoolFolder: string, agent: AgentName, sessionId: string): string {
  return join(agentFolder(spoolFolder, agent), digest(sessionId));
}
