import { environmentVariable } from './lib/option-checks.ts';
import { processWide } from './lib/process-wide.ts';
import { Recorder } from './recorder.ts';
import type { RecorderOptions } from './recorder-options.ts';

/**
 * Returns the recorder of this process, for adapters without an explicit one. All copies of this package share it. The
 * first call creates it from its options and the environment (`ACTLOG_API_KEY`, `ACTLOG_BASE_URL`, `ACTLOG_AGENT_ID`,
 * `ACTLOG_SPOOL_DIR`, `ACTLOG_TENANT`, `ACTLOG_GUARD`, `ACTLOG_GUARD_ON_UNAVAILABLE`, `ACTLOG_ENVIRONMENT`,
 * `ACTLOG_ORIGINS`). Options of later calls are ignored, except a `guard` that differs from the first: it would have no
 * effect, so it is rejected.
 *
 * Without a key or an address it warns once and records nothing, so that an agent runs where actlog is not configured;
 * a guard in mode `enforce` then follows its `onUnavailable`.
 *
 * @throws TypeError when `guard` is given and the recorder of this process was created with another
 * @throws when an option or a variable is invalid
 */
export function sharedRecorder(options: RecorderOptions = {}): Recorder {
  const shared = processWide<Shared>('@actlog/recorder/shared', () => ({
    recorder: createShared(options),
    guard: guardTerms(options),
  }));
  const { recorder, guard } = shared();
  if (options.guard && guardTerms(options) !== guard) {
    throw new TypeError(
      'guard: the recorder of this process was created with another guard. Set ACTLOG_GUARD for the whole process, or ' +
        'give each integration its own guard: sharedRecorder().forAdapter({ framework, sdk, guard }).',
    );
  }
  return recorder;
}

/** The recorder of this process, and the guard that it was created with. */
interface Shared {
  readonly recorder: Recorder;
  readonly guard: string;
}

/** Serializes the options of a guard for comparison. Its functions are excluded, because each agent creates new ones. */
function guardTerms({ guard = {} }: RecorderOptions): string {
  const { mode, onUnavailable, timeoutMs, holdTimeoutMs, environment, principal } = guard;
  // A function becomes null.
  return JSON.stringify([mode, onUnavailable, timeoutMs, holdTimeoutMs, environment, principal]);
}

function createShared(options: RecorderOptions): Recorder {
  const { client, apiKey, baseURL } = options;
  const missing = [
    !client && !apiKey && !environmentVariable('ACTLOG_API_KEY') ? 'ACTLOG_API_KEY' : '',
    !client && !baseURL && !environmentVariable('ACTLOG_BASE_URL') ? 'ACTLOG_BASE_URL' : '',
  ].filter(Boolean);
  if (missing.length === 0) return new Recorder(options);
  const message = `Nothing is recorded: set ${missing.join(' and ')}, or pass a recorder.`;
  if (options.onError) options.onError(new Error(message));
  else console.warn(`[actlog] ${message}`);
  return new Recorder(options, false);
}
