import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import {
  type AdapterOptions,
  type Method,
  MethodHooks,
  processWide,
  withMethods,
} from '@actlog/recorder/adapter';
import { type Hooks, hooksOf } from './hooks.ts';
import { type ProtocolServer, serverHooks } from './server.ts';
import { rememberThrownBy } from './thrown-errors.ts';

/** A `FastMCP` of `fastmcp`. */
export interface FastMcpServer {
  addTool(...args: never[]): unknown;
  start(...args: never[]): Promise<void>;
  readonly sessions: readonly unknown[];
}

/** Internals of a `FastMCP`. */
interface FastMcp {
  start(...args: unknown[]): Promise<unknown>;
  connect?(...args: unknown[]): Promise<unknown>; // from 4
  readonly sessions: readonly unknown[];
}

/** Internals of a `FastMCPSession`, which `fastmcp` creates for each connection or, without sessions, each request. */
interface FastMcpSession {
  readonly server: ProtocolServer;
  connect(...args: unknown[]): Promise<unknown>;
  setupToolHandlers(...args: unknown[]): unknown;
}

/** A tool of `fastmcp`. */
interface FastMcpTool {
  readonly execute: (...args: unknown[]) => unknown;
}

/** The used part of the package. */
interface FastMcpPackage {
  readonly FastMCP: new (...args: never[]) => object;
  readonly FastMCPSession: { readonly prototype: FastMcpSession };
}

/** Hooks of the server that is being started. Its sessions begin in this context. */
const starting = processWide('@actlog/mcp/fastmcp', () => new AsyncLocalStorage<Hooks>());
const methods = new MethodHooks('@actlog/mcp/fastmcp-methods');

/** Returns `true` for a `FastMCP`. */
export function isFastMcp(target: object): target is FastMcpServer {
  return 'addTool' in target && 'start' in target && 'sessions' in target;
}

/**
 * Records and guards every tool call of a `FastMCP`, which creates a server for each connection.
 *
 * @throws TypeError when the server was started before
 */
export function recordFastMcp(target: FastMcpServer, options: AdapterOptions): void {
  const server = target as unknown as FastMcp;
  const { serverState } = target as { readonly serverState?: unknown }; // from 3.24
  hooksOf(server, (hooks) => {
    if (serverState === 'running' || server.sessions.length > 0) {
      throw new TypeError(
        'target was started before: call actlog(server) first, and server.start() after it.',
      );
    }
    wrapStart(server, hooks);
  }).add(options);
}

function wrapStart(server: FastMcp, hooks: Hooks): void {
  for (const name of ['start', 'connect'] as const) {
    const start = server[name];
    if (typeof start !== 'function') continue;
    server[name] = async (...args) => {
      hookSessions((await packageOf(server)).FastMCPSession.prototype);
      return starting().run(hooks, () => start.apply(server, args));
    };
  }
}

function hookSessions(prototype: FastMcpSession): void {
  methods.hook(prototype, 'connect', (session: FastMcpSession, connect: Method<unknown>, args) => {
    const hooks = starting().getStore();
    if (hooks) serverHooks(session.server, hooks);
    return connect.apply(session, args);
  });
  if (typeof prototype.setupToolHandlers !== 'function') return;
  methods.hook(prototype, 'setupToolHandlers', (session: FastMcpSession, setUp: Method<unknown>, args) => {
    const [tools, ...rest] = args;
    return setUp.call(session, Array.isArray(tools) ? tools.map(watchedTool) : tools, ...rest);
  });
}

function watchedTool(tool: FastMcpTool): FastMcpTool {
  const execute = rememberThrownBy((...args) => tool.execute(...args));
  return withMethods(tool, { execute }, 'class-methods');
}

/**
 * Returns the package that a server comes from.
 *
 * @throws TypeError when that is another copy than the one that this package finds
 */
async function packageOf(server: object): Promise<FastMcpPackage> {
  for (const load of [importPackage, requirePackage]) {
    const found = await load().catch(() => undefined);
    if (found && server instanceof found.FastMCP) return found;
  }
  throw new TypeError(
    'target comes from another copy of fastmcp than @actlog/mcp finds: install one version of fastmcp ' +
      'beside @actlog/mcp, and leave both out of bundles.',
  );
}

async function importPackage(): Promise<FastMcpPackage> {
  try {
    return (await import(/* webpackIgnore: true */ 'fastmcp')) as unknown as FastMcpPackage;
  } catch (error) {
    throw new Error('fastmcp cannot be imported.', { cause: error });
  }
}

/** Programs in CommonJS load another copy of the classes. A CommonJS bundle has no `import.meta.url`. */
async function requirePackage(): Promise<FastMcpPackage> {
  const file = typeof __filename === 'string' ? __filename : import.meta.url;
  return createRequire(file)('fastmcp') as FastMcpPackage;
}
