import { readFileSync } from 'node:fs';
import { toResourceId } from '@actlog/tool-call';
import { type GuardSettings, refuseGuardOptions, resolveGuard } from './guard/guard-settings.ts';
import { decodeText } from './lib/decode-text.ts';
import { environmentVariable } from './lib/environment-variable.ts';
import { atLeast, checkType, finiteAtLeast, oneOf, timerMs } from './lib/option-checks.ts';
import { type OriginsSettings, resolveOrigins } from './origins/origins-options.ts';
import type { WhenFull } from './outbox/outbox.ts';
import type { RecorderOptions } from './recorder-options.ts';

/** Options of the recorder, checked and completed. */
export interface RecorderSettings {
  readonly agentId: string;
  /** Undefined to distinguish tenants by their key. */
  readonly tenant: string | undefined;
  readonly maxSpoolBytes: number;
  readonly maxQueuedEvents: number;
  readonly whenFull: WhenFull;
  readonly blockTimeoutMs: number;
  readonly concurrency: number;
  /** Undefined for automatic. */
  readonly pipelining: number | undefined;
  readonly requestTimeoutMs: number;
  readonly exitTimeoutMs: number;
  readonly guard: GuardSettings;
  /** Undefined if origins are off. */
  readonly origins: OriginsSettings | undefined;
}

const whenFullValues = ['drop-oldest', 'drop-newest', 'block'] as const;

/**
 * Checks the options and applies the defaults.
 *
 * @throws RangeError when a number is invalid
 * @throws TypeError when an option has the wrong type or an unknown value, or `enforce` lacks `onUnavailable`
 */
export function resolveRecorderSettings(options: RecorderOptions): RecorderSettings {
  checkTypes(options);
  const agentId = options.agentId || environmentVariable('ACTLOG_AGENT_ID') || packageName();
  return {
    agentId: toResourceId(agentId ?? '', 'agent'),
    tenant: options.tenant || environmentVariable('ACTLOG_TENANT'),
    maxSpoolBytes: atLeast(64 * 1024, 'maxSpoolBytes', options.maxSpoolBytes, 256 * 1024 * 1024),
    maxQueuedEvents: atLeast(1, 'maxQueuedEvents', options.maxQueuedEvents, 10_000),
    whenFull: oneOf(whenFullValues, 'whenFull', options.whenFull) ?? 'drop-oldest',
    blockTimeoutMs: atLeast(0, 'blockTimeoutMs', options.blockTimeoutMs, 30_000),
    concurrency: finiteAtLeast(1, 'concurrency', options.concurrency, 16),
    pipelining:
      options.pipelining === undefined ? undefined : finiteAtLeast(1, 'pipelining', options.pipelining, 1),
    requestTimeoutMs: timerMs(1, 'requestTimeoutMs', options.requestTimeoutMs, 10_000),
    exitTimeoutMs: atLeast(0, 'exitTimeoutMs', options.exitTimeoutMs, 2_000),
    guard: resolveGuard(options.guard === undefined ? {} : options.guard),
    origins: resolveOrigins(options.origins),
  };
}

/** Checks types at run time, because in JavaScript a mistake would show only when the first event is lost, or never. */
function checkTypes(options: RecorderOptions): void {
  checkType('object', 'options', options, 'pass an object such as { agentId: "support" }');
  refuseGuardOptions(options);
  const { client, spoolDir } = options;
  if (client && typeof client.withOptions !== 'function') {
    throw new TypeError('client must be an Actlog of @actlog/client: pass one, or apiKey and baseURL.');
  }
  const folder = 'pass the path of a folder, or spool: false to keep events in memory only';
  checkType('string', 'spoolDir', spoolDir, folder);
  if (spoolDir === '') throw new TypeError(`spoolDir is empty: ${folder}.`);
  for (const name of ['agentId', 'tenant', 'framework', 'agentVersion', 'sdk'] as const) {
    checkType('string', name, options[name]);
  }
  for (const name of ['spool', 'fsync'] as const) checkType('boolean', name, options[name]);
  for (const name of ['waitUntil', 'responseStatus', 'onDrop', 'onError'] as const) {
    checkType('function', name, options[name]);
  }
}

/** Returns the name in package.json of the working directory, where an agent is usually started. */
function packageName(): string | undefined {
  try {
    const { name } = JSON.parse(decodeText(readFileSync('package.json'))) as { name?: unknown };
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}
