import { processCoverage } from './coverage.ts';
import { hookLangChain } from './hooks.ts';
import { langChainCalls } from './langchain-calls.ts';
import type { ActlogOptions } from './options.ts';

/** Covers the whole process, for `actlog.install()`. */
export function installForProcess(options: Omit<ActlogOptions, 'onToolError'> = {}): () => void {
  const calls = langChainCalls(options);
  hookLangChain();
  return processCoverage.install(calls);
}
