/** The parts of the global object by which platforms differ; every one of them may be missing. */
interface PlatformGlobals {
  readonly process?: {
    readonly versions?: { readonly node?: string; readonly bun?: string };
    readonly env?: Record<string, string | undefined>;
    readonly getBuiltinModule?: (name: string) => unknown;
  };
  readonly Deno?: unknown;
  readonly EdgeRuntime?: unknown;
  readonly navigator?: { readonly userAgent?: string };
}

/** Read anew every time: a test or a polyfill may change it after this module is loaded. */
function globals(): PlatformGlobals {
  return globalThis as PlatformGlobals;
}

/** Where the client runs, as far as it matters to it. */
export type Platform = 'node' | 'browser' | 'other';

/**
 * Tells Node, where the undici pool is used, from browsers, where a key would leak, and from the rest (Bun, Deno,
 * workerd, edge functions), where the platform's `fetch` is used. Several of the rest pass themselves off as Node.
 */
export function detectPlatform(): Platform {
  const { process, Deno, EdgeRuntime, navigator } = globals();
  const userAgent = navigator?.userAgent ?? '';
  if (Deno !== undefined || EdgeRuntime !== undefined || process?.versions?.bun) return 'other';
  // Pages and all kinds of workers of a browser; jsdom too, where a key is as visible.
  if (userAgent.startsWith('Mozilla/')) return 'browser';
  return process?.versions?.node && userAgent !== 'Cloudflare-Workers' ? 'node' : 'other';
}

/** Reads an environment variable; undefined where there is none, or no environment, or no leave to read it. */
export function environmentVariable(name: string): string | undefined {
  try {
    return globals().process?.env?.[name]?.trim() || undefined;
  } catch {
    return undefined; // Deno without --allow-env
  }
}

/** The modules of Node that some functions need. */
interface BuiltinModules {
  'node:crypto': typeof import('node:crypto');
  'node:fs/promises': typeof import('node:fs/promises');
  'node:zlib': typeof import('node:zlib');
}

/**
 * A module of Node, or undefined where the platform has none. Asked for at run time instead of imported, so that
 * bundlers for browsers and workers never meet a `node:` specifier.
 */
export function builtinModule<Name extends keyof BuiltinModules>(
  name: Name,
): BuiltinModules[Name] | undefined {
  return globals().process?.getBuiltinModule?.(name) as BuiltinModules[Name] | undefined;
}
