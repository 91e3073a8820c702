import { isRegExp } from 'node:util/types';
import { checkGuard } from '../guard/guard-settings.ts';
import { checkType } from '../lib/option-checks.ts';
import type { AdapterOptions } from './adapter-options.ts';

/**
 * Rejects invalid options. In TypeScript the types prevent them; in JavaScript a mistake would show on each call, or
 * never.
 *
 * @throws TypeError when an option has the wrong type; the guard's own options are checked where it is created
 */
export function checkAdapterOptions(options: AdapterOptions): void {
  checkType('object', 'options', options, 'pass an object such as { agentId: "support" }');
  const { recorder, sessionId } = options;
  if (recorder !== undefined && typeof recorder?.forAdapter !== 'function') {
    throw new TypeError(
      'recorder must be a Recorder of @actlog/recorder: pass one, or omit it to use the shared recorder of this process.',
    );
  }
  checkGuard(options.guard);
  checkType('string', 'agentId', options.agentId);
  if (typeof sessionId !== 'function') {
    checkType('string', 'sessionId', sessionId, 'pass an id, a function that returns one, or omit it');
  }
  for (const name of ['toolName', 'responseStatus'] as const) checkType('function', name, options[name]);
  for (const name of ['include', 'exclude'] as const) checkFilter(name, options[name]);
}

function checkFilter(name: string, filter: unknown): void {
  if (filter === undefined || typeof filter === 'function') return;
  if (Array.isArray(filter) && filter.every((entry) => typeof entry === 'string' || isRegExp(entry))) return;
  throw new TypeError(
    `${name} must be a list of names and patterns, such as ["search", /^read_/], or a function of the name.`,
  );
}
