/**
 * Parts of `@actlog/msw` for Node, where clients and recorders send requests with undici pools that Mock Service Worker
 * does not intercept.
 *
 * @packageDocumentation
 */

import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Agent, Dispatcher } from 'undici';
import { type HandlerSource, MockExchange, urlOf } from './mock-exchange.ts';
import * as undici from './undici.js';

export type { HandlerSource } from './mock-exchange.ts';

const base: typeof Dispatcher = undici.Dispatcher;

/**
 * An undici dispatcher that sends requests to handlers instead of the network; unhandled requests fail. For the
 * `dispatcher` option of a client or a recorder.
 */
export class HandlersDispatcher extends base {
  readonly #source: HandlerSource;

  /** @param source Result of `setupServer()` from `msw/node`. It does not have to listen. */
  constructor(source: HandlerSource) {
    super();
    this.#source = source;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    void new MockExchange(handler).run(options, this.#source);
    return true;
  }

  override async close(): Promise<void> {}

  override async destroy(): Promise<void> {}
}

/** Interception of undici's requests. */
export interface UndiciInterception {
  /** Stops the interception. */
  close(): void;
  [Symbol.dispose](): void;
}

/** Result of `setupServer()` from `msw/node`. */
export interface ListeningSource extends HandlerSource {
  /** 0 while the server is not listening. */
  readonly readyState: number;
}

interface Rule {
  readonly baseURL: string;
  readonly source: ListeningSource;
}

type Dispatch = Dispatcher['dispatch'];

/** Prototype that all pools of one copy of undici share. */
interface Pools {
  dispatch: Dispatch;
}

/** Rules of each intercepted copy of undici, and its original function. */
const intercepted = new Map<Pools, { readonly rules: Set<Rule>; readonly original: Dispatch }>();

/**
 * Redirects undici's requests below the mock's base URL to a server's handlers while the server listens. Clients and
 * recorders send requests with undici pools, which Mock Service Worker does not intercept; with this function
 * their code
 * needs no change. Requests to other addresses are not affected.
 *
 * ```ts
 * const undici = interceptUndici(mock, server);
 * afterAll(() => undici.close());
 * ```
 *
 * @param mock Result of `actlogMock()`.
 * @param server Result of `setupServer(...mock.handlers)`.
 */
export function interceptUndici(
  mock: { readonly baseURL: string },
  server: ListeningSource,
): UndiciInterception {
  const rule: Rule = { baseURL: mock.baseURL, source: server };
  const copies = new Set([poolsOf(undici.Agent), ...projectCopies()]);
  for (const pools of copies) rulesOf(pools).add(rule);
  const close = () => {
    for (const pools of copies) {
      const entry = intercepted.get(pools);
      entry?.rules.delete(rule);
      if (!entry || entry.rules.size > 0) continue;
      pools.dispatch = entry.original;
      intercepted.delete(pools);
    }
  };
  return { close, [Symbol.dispose]: close };
}

function rulesOf(pools: Pools): Set<Rule> {
  const known = intercepted.get(pools);
  if (known) return known.rules;
  const entry = { rules: new Set<Rule>(), original: pools.dispatch };
  intercepted.set(pools, entry);
  pools.dispatch = function dispatch(this: Dispatcher, options, handler) {
    const rule = ruleFor(entry.rules, options);
    if (!rule) return entry.original.call(this, options, handler);
    void new MockExchange(handler).run(options, rule.source);
    return true;
  };
  return entry.rules;
}

function ruleFor(rules: ReadonlySet<Rule>, options: Dispatcher.DispatchOptions): Rule | undefined {
  const { href } = urlOf(options) ?? { href: '' };
  return [...rules].find(({ baseURL, source }) => source.readyState !== 0 && href.startsWith(`${baseURL}/`));
}

/** Returns the unexported class from which every undici pool inherits `dispatch`. */
function poolsOf(agent: typeof Agent): Pools {
  return Object.getPrototypeOf(agent.prototype) as Pools;
}

/**
 * Returns the copies of undici that the project's client and recorder load, if they differ from this
 * package's.
 */
function projectCopies(): Pools[] {
  const project = join(process.cwd(), 'package.json');
  return ['@actlog/client', '@actlog/recorder'].flatMap((name) => {
    try {
      const load = createRequire(createRequire(project).resolve(name));
      return [poolsOf(load('undici/lib/dispatcher/agent.js') as typeof Agent)];
    } catch {
      return []; // not installed, so nothing uses it
    }
  });
}
