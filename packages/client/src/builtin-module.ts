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
