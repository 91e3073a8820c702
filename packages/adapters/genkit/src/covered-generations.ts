import { MethodHooks } from '@actlog/recorder/adapter';
import { coverages } from './coverage.ts';
import { CoveredGeneration } from './covered-generation.ts';
import type { Genkit } from './genkit-context.ts';
import { type Registry, type RegistryClass, rootOf } from './registry.ts';

const hookedMethods = new MethodHooks('@actlog/genkit/hooked-methods');

/**
 * Covers generations that do not name `actlog()` in their own `use`: those of covered applications, and those within
 * covered tool calls. Genkit has no middleware for all generations, but each creates a registry of its own.
 */
export function hookGenerations(ai: Genkit): void {
  const registries = ai.registry.constructor as unknown as RegistryClass;
  hookedMethods.hook(registries, 'withParent', (owner: RegistryClass, withParent, args) => {
    const registry = withParent.apply(owner, args) as Registry;
    const { applications, surrounding } = coverages();
    const coverage = applications.get(rootOf(registry)) ?? surrounding.getStore();
    if (coverage) new CoveredGeneration(ai, coverage, registry).hookLookups();
    return registry;
  });
}
