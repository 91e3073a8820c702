import type { AdapterOptions } from '@actlog/recorder/adapter';
import { processCoverage } from './coverage.ts';
import { recordPlugin } from './plugin.ts';

/** Covers the whole process, for `actlog.install()`. */
export function installForProcess(options: AdapterOptions = {}): () => void {
  return processCoverage.install(recordPlugin(options));
}
