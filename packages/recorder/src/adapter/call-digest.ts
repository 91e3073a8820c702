import { hash } from 'node:crypto';
import { stringifyExactJson } from '@actlog/tool-call';

/** Returns a digest of a tool and its arguments, by which equal calls are recognized without keeping their arguments. */
export function callDigest({
  toolName,
  arguments: args,
}: {
  readonly toolName: string;
  readonly arguments: unknown;
}): string {
  let text: string | undefined;
  try {
    text = typeof args === 'string' ? args : stringifyExactJson(args);
  } catch {
    text = undefined; // not JSON-serializable: the calls of the tool count as one
  }
  return hash('sha256', `${toolName}\n${text}`);
}
