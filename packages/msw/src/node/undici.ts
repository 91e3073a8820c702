import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type * as undici from 'undici';

/**
 * Loads the classes of a copy of undici. Its main module would also install the global dispatcher of the process, and so
 * replace the one of the tests.
 *
 * @param from - file or folder that finds the copy; this package by default
 */
export function undiciOf(from: string = fileURLToPath(import.meta.url)) {
  const load = createRequire(from);
  const Dispatcher = load('undici/lib/dispatcher/dispatcher.js') as typeof undici.Dispatcher;
  // The main module does the same: without it, a dispatcher has no `request`.
  if (!('request' in Dispatcher.prototype))
    Object.assign(Dispatcher.prototype, load('undici/lib/api/index.js'));
  const Agent = load('undici/lib/dispatcher/agent.js') as typeof undici.Agent;
  const errors = load('undici/lib/core/errors.js') as typeof undici.errors;
  return { Agent, Dispatcher, errors };
}
