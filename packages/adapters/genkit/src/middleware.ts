import { type AdapterOptions, ownName } from '@actlog/recorder/adapter';
import { type GenerateMiddleware, generateMiddleware } from 'genkit';
import { coverages, createCoverage } from './coverage.ts';
import { hookGenerations } from './covered-generations.ts';
import { Generation } from './generation.ts';
import { recordingHooks } from './recording-hooks.ts';

/** Creates the middleware behind `actlog()`. */
export function recordMiddleware(options: AdapterOptions = {}): ReturnType<GenerateMiddleware> {
  const coverage = createCoverage(options);
  // Genkit treats two middlewares with the same name as one, whatever their options.
  const name = ownName('genkit');
  const middleware = generateMiddleware({ name, description: 'Records and guards tool calls.' }, ({ ai }) => {
    coverages().own.add(ai.registry);
    hookGenerations(ai);
    return recordingHooks(new Generation(ai, coverage), coverage.calls);
  });
  return middleware();
}
