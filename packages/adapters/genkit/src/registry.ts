import type { GenerateMiddleware } from 'genkit';

/** Function of an action. */
export type ActionFunction = (...args: unknown[]) => Promise<unknown>;

/** A model, a tool or a prompt: a function with a description. */
export interface Action extends ActionFunction {
  readonly __action: { readonly name: string; readonly actionType?: string };
}

/**
 * Genkit's registry. Each generation has its own, whose parent is that of its application, and takes its model, its
 * tools and its middleware from there.
 */
export interface Registry {
  readonly parent?: Registry | undefined;
  lookupAction(key: string): Promise<Action | undefined>;
  lookupValue(type: string, key: string): Promise<GenerateMiddleware | object | undefined>;
}

/** The class of registries. Genkit may have two copies of it, for `import` and for `require`. */
export interface RegistryClass {
  withParent(parent: Registry): Registry;
}

/** Returns the registry of the application that a registry belongs to. */
export function rootOf(registry: Registry): Registry {
  return registry.parent ? rootOf(registry.parent) : registry;
}
