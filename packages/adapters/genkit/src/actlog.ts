import {
  type AdapterOptions as ActlogOptions,
  refuseOptions,
  type WithoutOptions,
} from '@actlog/recorder/adapter';
import type { GenerateMiddleware } from 'genkit';
import { coverages, createCoverage } from './coverage.ts';
import { hookGenerations } from './covered-generations.ts';
import type { Genkit } from './genkit-context.ts';
import { recordMiddleware } from './middleware.ts';
import { type Registry, rootOf } from './registry.ts';

/**
 * Records every tool call that an application makes for its models, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const ai = actlog(genkit({ plugins }));
 * ```
 *
 * This covers each generation of `ai`: `generate`, `generateStream`, prompts, chats and agents, also inside flows, tools
 * and middleware, and those that were defined before. The hooks run in front of the middleware of a generation. A
 * generation with its own `actlog()` is covered by that alone. Of several calls for the same `ai`, the last applies to
 * generations from then on.
 *
 * @returns the same `ai`
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function actlog<Instance extends Genkit>(
  ai: Instance & WithoutOptions,
  options?: ActlogOptions,
): Instance;
/**
 * Creates a middleware that does the same for one `generate`, `generateStream` or prompt, and for the generations within
 * its tools:
 *
 * ```ts
 * await ai.generate({ model, tools, prompt, use: [actlog()] });
 * ```
 *
 * Put it first in the list, so that it sees each call once, even if inner middleware retries it.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function actlog(options?: ActlogOptions): ReturnType<GenerateMiddleware>;
export function actlog(
  target: Genkit | ActlogOptions = {},
  options?: ActlogOptions,
): Genkit | ReturnType<GenerateMiddleware> {
  if (!isGenkit(target)) {
    if (options === undefined) return recordMiddleware(target);
    throw new TypeError(
      'actlog: options are second only for an application, actlog(genkit(...), { guard }).',
    );
  }
  refuseOptions(target, 'actlog(ai, { guard })');
  coverages().applications.set(rootOf(target.registry as unknown as Registry), createCoverage(options ?? {}));
  hookGenerations(target);
  return target;
}

function isGenkit(target: Genkit | ActlogOptions): target is Genkit {
  return 'registry' in target && 'generate' in target;
}
