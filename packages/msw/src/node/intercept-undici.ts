import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Agent, type Dispatcher } from 'undici';
import { type HandlerSource, MockExchange, urlOf } from './mock-exchange.ts';

/** What stands between undici and the network. */
export interface UndiciInterception {
  /** Ends it. */
  close(): void;
  [Symbol.dispose](): void;
}

/** `setupServer()` of `msw/node`. */
export interface ListeningSource extends HandlerSource {
  /** 0 while the server does not listen. */
  readonly readyState: number;
}

interface Rule {
  readonly baseURL: string;
  readonly source: ListeningSource;
}

type Dispatch = Dispatcher['dispatch'];

/** What all pools of one copy of undici share. */
interface Pools {
  dispatch: Dispatch;
}

/** The rules of each copy of undici that is intercepted, and what it did before. */
const intercepted = new Map<Pools, { readonly rules: Set<Rule>; readonly original: Dispatch }>();

/**
 * Has undici ask the handlers of a server for everything below the mock's address, while the server listens. Clients
 * and recorders send by undici's own pools, which Mock Service Worker does not see; this needs no change to the code
 * that makes them. Requests to other addresses go where they went before.
 *
 * ```ts
 * const undici = interceptUndici(mock, server);
 * afterAll(() => undici.close());
 * ```
 *
 * @param mock What `actlogMock()` gave.
 * @param server What `setupServer(...mock.handlers)` gave.
 */
export function interceptUndici(
  mock: { readonly baseURL: string },
  server: ListeningSource,
): UndiciInterception {
  const rule: Rule = { baseURL: mock.baseURL, source: server };
  const copies = new Set([poolsOf(Agent), ...projectCopies()]);
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

/** Every pool of undici has its `dispatch` from one class, which is not exported. */
function poolsOf(agent: typeof Agent): Pools {
  return Object.getPrototypeOf(agent.prototype) as Pools;
}

/** The copies of undici that the client and the recorder of the project load, where they are not this package's. */
function projectCopies(): Pools[] {
  const project = join(process.cwd(), 'package.json');
  return ['@actlog/client', '@actlog/recorder'].flatMap((name) => {
    try {
      const load = createRequire(createRequire(project).resolve(name));
      return [poolsOf((load('undici') as { Agent: typeof Agent }).Agent)];
    } catch {
      return []; // not installed: then nothing sends by it
    }
  });
}
