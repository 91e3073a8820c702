/** Parts of the global object that differ between platforms; each may be missing. */
interface PlatformGlobals {
  readonly process?: {
    readonly versions?: { readonly node?: string; readonly bun?: string };
    readonly env?: Record<string, string | undefined>;
  };
  readonly Deno?: unknown;
  readonly EdgeRuntime?: unknown;
  readonly navigator?: { readonly userAgent?: string };
}

/**
 * Returns the global object. Read on every call, because a test or a polyfill may change it after this module is
 * loaded.
 */
function globals(): PlatformGlobals {
  return globalThis as PlatformGlobals;
}

/** Platform that the client runs on. */
export type Platform = 'node' | 'browser' | 'other';

/**
 * Distinguishes Node, where the undici pool is used, from browsers, where a key would leak, and from other platforms
 * (Bun, Deno, workerd, edge functions), where the platform's `fetch` is used. Several of the latter imitate Node.
 */
export function detectPlatform(): Platform {
  const { process, Deno, EdgeRuntime, navigator } = globals();
  const userAgent = navigator?.userAgent ?? '';
  if (Deno !== undefined || EdgeRuntime !== undefined || process?.versions?.bun) return 'other';
  // Pages and all kinds of workers of a browser, and jsdom, where a key is just as visible.
  if (userAgent.startsWith('Mozilla/')) return 'browser';
  return process?.versions?.node && userAgent !== 'Cloudflare-Workers' ? 'node' : 'other';
}

/**
 * Reads an environment variable. Returns undefined if it is unset or empty, or if there is no environment or no
 * permission to read it.
 */
export function environmentVariable(name: string): string | undefined {
  try {
    return globals().process?.env?.[name]?.trim() || undefined;
  } catch {
    return undefined; // Deno without --allow-env
  }
}

/** Node modules that some functions need. */
interface BuiltinModules {
  'node:crypto': typeof import('node:crypto');
  'node:fs/promises': typeof import('node:fs/promises');
  'node:zlib': typeof import('node:zlib');
}

/** Part of the global object that has Node's modules, where there are any. */
interface ModuleGlobals {
  readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
}

/**
 * Returns a Node module, or undefined if the platform does not have it. Looked up at run time, so that bundlers for
 * browsers and workers never see a `node:` specifier.
 */
export function builtinModule<Name extends keyof BuiltinModules>(
  name: Name,
): BuiltinModules[Name] | undefined {
  const { process } = globalThis as ModuleGlobals;
  return process?.getBuiltinModule?.(name) as BuiltinModules[Name] | undefined;
}
