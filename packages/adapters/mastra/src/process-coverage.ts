import { type AdapterCalls, ProcessCoverage } from '@actlog/recorder/adapter';
import type { ToolHooks } from '@mastra/core/tools';

/** Coverage of the whole process, from one `actlog.install()`. */
interface Installed {
  /** Recorder of tools that Mastra runs without hooks. */
  readonly calls: AdapterCalls;
  /** Creates recording hooks for an agent, around its own hooks. */
  readonly cover: (own: ToolHooks | undefined) => ToolHooks;
}

/** Coverages of the whole process, from `actlog.install()`. */
export const processCoverage: ProcessCoverage<Installed> = new ProcessCoverage('@actlog/mastra/installed');
