import { isRegExp } from 'node:util/types';
import { checkGuard } from '../guard/guard-settings.ts';
import { checkType } from '../option-checks.ts';
import type { AdapterOptions } from './adapter-options.ts';

/**
 * Refuses options that no call could use. Types see to this in TypeScript; a mistake in JavaScript would show at each
 * call, or never.
 *
 * @throws TypeError when one is of the wrong type; what is in the guard is checked where that is made
 */
export function checkAdapterOptions(options: AdapterOptions): void {
  checkType('object', 'options', options, 'pass an object such as { agentId: "support" }');
  const { recorder, sessionId } = options;
  if (recorder !== undefined && typeof recorder?.forAdapter !== 'function') {
    throw new TypeError(
      'recorder must be a Recorder of @actlog/recorder: pass one, or leave it out for the one of this process.',
    );
  }
  checkGuard(options.guard);
  checkType('string', 'agentId', options.agentId);
  if (typeof sessionId !== 'function') {
    checkType('string', 'sessionId', sessionId, 'pass one, a function that returns one, or leave it out');
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
