import { hash, randomUUID } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

/** Maximum number of kept events; the oldest are dropped because nothing delivers them. */
const keptEvents = 1000;

/**
 * The minimum that any recorder does within a call: two JSON texts, a SHA-256, an id, the time and, with `isWritten`, one
 * write to a file. It sorts no keys, tracks no context, guards nothing and delivers nothing, so its cost is unavoidable.
 *
 * @param deliver - receives each event, for a recorder that also delivers
 * @returns a function that records a call by its number and arguments
 */
export function leastRecorder(
  isWritten: boolean,
  deliver?: (body: string) => void,
): (number: number, args: unknown) => void {
  const file = isWritten ? openSync(join(temporaryFolder(), 'events'), 'a') : undefined;
  const kept: string[] = [];
  return (number, args) => {
    const argumentsHash = `sha256:${hash('sha256', JSON.stringify(args))}`;
    const body = JSON.stringify({
      eventId: randomUUID(),
      agentId: 'benchmark',
      sessionId: `session-${number % 20}`,
      sourceTimestamp: new Date().toISOString(),
      category: 'tool_api',
      schemaVersion: '1.0',
      payload: { toolName: 'search', argumentsHash, responseStatus: 200 },
    });
    if (file !== undefined) writeSync(file, `${body}\n`);
    if (deliver) deliver(body);
    else if (kept.push(body) > keptEvents) kept.shift();
  };
}
