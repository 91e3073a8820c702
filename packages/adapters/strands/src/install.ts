import type { AdapterOptions } from '@actlog/recorder/adapter';
import { processCoverage } from './coverage.ts';
import { hookStrands } from './hooks.ts';
import { strandsCalls } from './strands-calls.ts';

/** Covers the whole process, for `actlog.install()`. */
export function installForProcess(options: AdapterOptions = {}): () => void {
  const calls = strandsCalls(options);
  hookStrands();
  return processCoverage.install(calls);
}
